import { parseDocument } from 'yaml'
import { workerTask } from '../../base/workers/worker-task.ts'
import { isShallow } from '../../base/yaml/is-shallow.ts'

/** An object that stands in YAML; aliases, of which a few lines can expand to gigabytes, are not resolved in it. */
export function readYaml(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    if (!isShallow(text)) return undefined
    const document = parseDocument(text, { uniqueKeys: true, stringKeys: true })
    if (document.errors.length > 0) return undefined
    const value: unknown = document.toJS({ maxAliasCount: 0 })
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>
    }
  } catch {
    // More aliases than none, for one.
  }
  return undefined
}

/** The same in a worker: what the parser takes grows with the square of the keys. */
export const readLongYaml = workerTask(({ text }: { readonly text: string }) => readYaml(text))
