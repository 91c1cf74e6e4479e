import { invalid } from '../../base/problem.ts'

const KEY = /^[A-Za-z0-9_]{1,255}$/
const LONGEST_VALUE = 10_000
/** What can be found again in a log, whatever a shell makes of it. */
const MASKABLE = /^[A-Za-z0-9_+=/@:.~-]{8,}$/
const MASKABLE_RAW = /^\S{8,}$/
const SCOPE = /^[A-Za-z0-9 _/\\$().{}*-]{1,255}$/

/** What decides whether a variable may be as it is. */
export interface CheckedVariable {
  readonly key: string
  readonly value: string
  readonly masked: boolean
  readonly raw: boolean
  readonly environment_scope: string
  readonly description: string | null
}

/** Refuses what a variable must not be (docs/contract/D §1.19): masked values are one line that a log can be searched for. */
export function assertVariable(given: CheckedVariable): void {
  const fields: Record<string, string[]> = {}
  if (!KEY.test(given.key)) {
    fields.key = ["can contain only letters, digits and '_'."]
  }
  if (given.value.length > LONGEST_VALUE) {
    fields.value = [`is too long (maximum is ${LONGEST_VALUE} characters)`]
  } else if (given.masked && !(given.raw ? MASKABLE_RAW : MASKABLE).test(given.value)) {
    fields.value = ['is invalid']
  }
  if (!SCOPE.test(given.environment_scope)) {
    fields.environment_scope = [
      "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces",
    ]
  }
  if ((given.description?.length ?? 0) > 255) {
    fields.description = ['is too long (maximum is 255 characters)']
  }
  if (Object.keys(fields).length > 0) throw invalid(fields)
}
