import { byteCache } from '../../base/byte-cache.ts'
import { runInWorker, WorkerLimitError } from '../../base/workers/worker-pool.ts'
import { configFault, TOO_LARGE } from './fault.ts'
import { isMap, isShort, type Value, type ValueMap } from './values.ts'
import {
  type ParsedConfig,
  sizeOf,
  type YamlWork,
  type YamlWorkResult,
  yamlWork,
} from './yaml-work.ts'

/** A file of a configuration: its keys, and the header that declares inputs where it has one. */
export interface ConfigFile {
  readonly header: ValueMap | undefined
  readonly content: ValueMap
}

export interface YamlLimits {
  readonly maxBytes: number
  readonly maxDepth: number
  /** Whose share of the work on long files this is. */
  readonly caller?: string | undefined
}

/** Files by their text: most pushes leave the file as it was, and nothing that they need takes as long as parsing it. */
const parsed = byteCache<ParsedConfig>(4_000_000, ({ bytes }) => bytes)

/** Reads a configuration file: YAML 1.1 with merge keys and `!reference` (docs/contract/D §5). */
export async function readConfigFile(text: string, limits: YamlLimits): Promise<ConfigFile> {
  if (Buffer.byteLength(text) > limits.maxBytes) {
    throw configFault(TOO_LARGE)
  }
  const documents = await documentsOf(text, limits)
  const [first, second] = documents
  const hasHeader = documents.length > 1 && isMap(first) && 'spec' in first
  const content = hasHeader ? second : first
  if (!isMap(content)) throw configFault('Invalid configuration format')
  return { header: hasHeader ? first : undefined, content }
}

async function documentsOf(
  text: string,
  { maxDepth, caller }: YamlLimits,
): Promise<readonly Value[]> {
  const known = parsed.get(text)
  if (known) {
    sizeOf(known.values, maxDepth)
    return known.values
  }
  const found = await work('parse', { text, maxDepth }, { isQuick: isQuick(text), caller })
  for (const value of found.values) freeze(value)
  parsed.set(text, found)
  return found.values
}

/** Where a key stands in a file, as `line 3, column 5`; undefined when it came from elsewhere. */
export async function placeOfKey(
  text: string,
  path: readonly string[],
  caller?: string,
): Promise<string | undefined> {
  return await work('place', { text, path }, { isQuick: isQuick(text), caller })
}

/** A value as YAML. */
export async function writeYaml(value: Value, caller?: string): Promise<string> {
  return await work('write', { value }, { isQuick: isShort(value, QUICK), caller })
}

/** Characters of a text that is worked on at once, in some milliseconds at most: nearly all configurations are no longer. */
const QUICK = 4096
/** What merges bring in can grow with the square of the text. */
const isQuick = (text: string) => text.length <= QUICK && !text.includes('<<')
const LONGEST_MS = 5000

async function work<Name extends keyof YamlWork>(
  name: Name,
  input: Parameters<YamlWork[Name]>[0],
  { isQuick, caller }: { readonly isQuick: boolean; readonly caller: string | undefined },
): Promise<ReturnType<YamlWork[Name]>> {
  // The compiler does not see that a function and its input go by the same name.
  const act = yamlWork[name] as (given: typeof input) => ReturnType<YamlWork[Name]>
  if (isQuick) return act(input)
  const module = new URL('./yaml-work.ts', import.meta.url)
  const result = await runInWorker<typeof input, YamlWorkResult<ReturnType<YamlWork[Name]>>>(
    input,
    { module, name, timeoutMs: LONGEST_MS, isLong: true, caller },
  ).catch((error: unknown) => {
    throw error instanceof WorkerLimitError ? configFault(reasons[error.limit]) : error
  })
  if ('failure' in result) throw configFault(result.failure)
  return result.value
}

const reasons = {
  time: TOO_LARGE,
  memory: TOO_LARGE,
  waiting: 'Too many configurations are being read',
} as const

/** All who read the same file share its values. */
function freeze(value: Value): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const part of Object.values(value)) freeze(part)
}
