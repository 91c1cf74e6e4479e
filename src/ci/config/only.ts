import { betweenSlashes } from '../../base/patterns/pattern.ts'
import { parseExpression } from './expression.ts'
import { configFault } from './fault.ts'
import { hasPattern } from './has-pattern.ts'
import { assertFew, type Circumstances, hasChanged } from './rules.ts'
import { isMap, type Value, type ValueMap } from './values.ts'

/** Words of `only` and `except` for why a pipeline runs, with its sources. */
const sources: Readonly<Record<string, readonly string[]>> = {
  pushes: ['push'],
  schedules: ['schedule'],
  triggers: ['trigger'],
  web: ['web'],
  api: ['api'],
  pipelines: ['pipeline'],
  external: ['external'],
  chat: ['chat'],
  merge_requests: ['merge_request_event'],
  external_pull_requests: ['external_pull_request_event'],
}

/** Whether a job with these `only` and `except` is part of a pipeline (docs/contract/D §5.2). */
export async function passesOnlyExcept(
  only: Value,
  except: Value,
  at: Circumstances,
): Promise<boolean> {
  const admitted = only === undefined || (await fitsPolicy(only, at, 'all'))
  return admitted && (except === undefined || !(await fitsPolicy(except, at, 'any')))
}

/** `only` needs each of its parts to fit, `except` one. */
async function fitsPolicy(policy: Value, at: Circumstances, mode: 'all' | 'any'): Promise<boolean> {
  const parts = isMap(policy) ? policy : { refs: policy }
  const found: boolean[] = []
  if (parts.refs !== undefined)
    found.push(await fitsAny(listOf(parts.refs), (ref) => fitsRef(ref, at)))
  else if (mode === 'all') found.push(at.source !== 'merge_request_event')
  if (parts.variables !== undefined) found.push(await fitsVariables(parts.variables, at))
  if (parts.changes !== undefined) found.push(await hasChanged(parts.changes, at))
  if (parts.kubernetes !== undefined) found.push(false)
  return mode === 'all' ? found.every(Boolean) : found.some(Boolean)
}

function listOf(value: Value): string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value.flat(10) : [value]
  return list.filter((one): one is string => typeof one === 'string')
}

/** One after the other, until one fits. */
async function fitsAny(
  texts: readonly string[],
  fits: (text: string) => Promise<boolean>,
): Promise<boolean> {
  for (const text of texts) if (await fits(text)) return true
  return false
}

function fitsVariables(value: Value, at: Circumstances): Promise<boolean> {
  return fitsAny(listOf(value), async (text) => (await parseExpression(text)?.(at)) === true)
}

async function fitsRef(word: string, at: Circumstances): Promise<boolean> {
  const [, name = word, path] = /^(.+)@([^@/]+\/[^@]+)$/.exec(word) ?? []
  if (path !== undefined && path !== at.variables.get('CI_PROJECT_PATH')) return false
  const isRequest = at.source === 'merge_request_event'
  if (name === 'branches') return !at.tag && !isRequest
  if (name === 'tags') return at.tag
  const known = Object.hasOwn(sources, name) ? sources[name] : undefined
  if (known) return known.includes(at.source)
  if (isRequest) return false
  const pattern = betweenSlashes(name)
  return pattern ? await hasPattern(at.patterns, pattern, at.ref) : name === at.ref
}

/** Refuses an `only` or `except` that is neither a list nor a map. */
export function assertPolicy(value: Value, where: string): void {
  if (value === undefined || typeof value === 'string' || Array.isArray(value)) return
  if (!isMap(value)) throw configFault(`${where} config should be an array of strings or a hash`)
  assertPolicyParts(value, where)
}

const PARTS: readonly string[] = ['refs', 'variables', 'changes', 'kubernetes']

function assertPolicyParts(value: ValueMap, where: string): void {
  const unknown = Object.keys(value).filter((key) => !PARTS.includes(key))
  if (unknown.length > 0) {
    throw configFault(`${where} config contains unknown keys: ${unknown.join(', ')}`)
  }
  assertFew(value.changes, `${where}:changes`)
  if (listOf(value.variables ?? []).every((text) => parseExpression(text))) return
  throw configFault(`${where} variables invalid expression syntax`)
}
