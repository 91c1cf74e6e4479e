import type { RunVariable } from './pipeline-input.ts'
import { isVariableKey, LONGEST_VALUE } from './run-params.ts'

const SKIP = /\[(?:ci[ _-]skip|skip[ _-]ci)\]/i

/** Whether the message of a commit asks for no jobs (docs/contract/D §1.15). */
export function asksToSkip(message: string): boolean {
  return SKIP.test(message)
}

/** What `git push -o ci.…` asks for (docs/contract/D §3.6). */
export interface PushOptions {
  readonly skip: boolean
  readonly variables: readonly RunVariable[]
  readonly inputs: Readonly<Record<string, string>>
}

/** Reads `ci.skip`, `ci.variable="KEY=value"` and `ci.input=name=value`; what is none of these is ignored. */
export function readPushOptions(options: readonly string[]): PushOptions {
  const variables: RunVariable[] = []
  const inputs: Record<string, string> = {}
  for (const option of options) {
    const [, kind, given = ''] = /^ci\.(variable|input)=(.*)$/s.exec(option) ?? []
    const [, key = '', value = ''] = /^([^=]+)=(.*)$/s.exec(unquoted(given)) ?? []
    if (key === '') continue
    if (kind === 'input') inputs[key] = value
    else if (isVariableKey(key) && value.length <= LONGEST_VALUE) {
      variables.push({ key, value, variable_type: 'env_var' })
    }
  }
  const skip = options.some((option) => option === 'ci.skip' || option === 'ci.skip=true')
  return { skip, variables, inputs }
}

function unquoted(text: string): string {
  return /^"(.*)"$/s.exec(text)?.[1] ?? text
}
