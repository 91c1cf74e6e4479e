import { configFault, TOO_LARGE } from './fault.ts'
import { isMap, type Value } from './values.ts'

/** Variables by name, as conditions and texts of a configuration see them. */
export type Variables = Pick<ReadonlyMap<string, string>, 'get' | 'has'>

/** A variable of a configuration. */
export interface YamlVariable {
  readonly key: string
  readonly value: string
  /** Whether `$NAME` in the value stays as it is. */
  readonly raw: boolean
}

/** What may be said of one; `description` and `options` are for those who run a pipeline by hand. */
const KEYS: readonly string[] = ['value', 'description', 'options', 'expand']

/** The variables of a `variables:` map, or what is wrong with it. */
export function readVariables(value: Value): YamlVariable[] | undefined {
  if (value === undefined || value === null) return []
  if (!isMap(value)) return undefined
  const found: YamlVariable[] = []
  for (const [key, given] of Object.entries(value)) {
    if (!hasForm(given)) return undefined
    const inner = isMap(given) ? given.value : given
    if (inner !== undefined && inner !== null && !isPlain(inner)) return undefined
    const raw = isMap(given) && given.expand === false
    found.push({ key, value: inner === undefined || inner === null ? '' : String(inner), raw })
  }
  return found
}

function hasForm(given: Value): boolean {
  return !isMap(given) || Object.keys(given).every((name) => KEYS.includes(name))
}

function isPlain(value: Value): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

const LONGEST_VALUE = 65_536
/** By how much a text may grow; names beyond stay as they are written. */
const MOST_GROWTH = 1_000_000

/** Puts the values of `$NAME`, `${NAME}` and `%NAME%` into a text; unknown ones stay (docs/contract/D §5.5). */
export function expandText(text: string, variables: Pick<Variables, 'get'>): string {
  let grown = 0
  return text.replaceAll(
    /\$\$|\$(\w+)|\$\{(\w+)\}|%(\w+)%/g,
    (mark, plain?: string, braced?: string, percent?: string) => {
      if (mark === '$$') return '$'
      const value = variables.get(plain ?? braced ?? percent ?? '') ?? mark
      grown += value.length
      return grown > MOST_GROWTH ? mark : value
    },
  )
}

const DEEPEST = 100
/** Characters of the expanded values that are kept, of variables that are put over others together. */
const MOST_KEPT = 10_000_000

/**
 * Puts further variables over what is known. Each is expanded when somebody asks for it, by those known before and by
 * the others; one that names itself means the value below it, and what needs itself in a circle stays as it is written.
 */
export function withVariables(known: Variables, more: readonly YamlVariable[]): Variables {
  if (more.length === 0) return known
  const written = new Map(more.map((variable) => [variable.key, variable]))
  const expanded = new Map<string, string>()
  const busy = new Set<string>()
  let kept = 0
  const get = (name: string): string | undefined => {
    const variable = written.get(name)
    if (!variable) return known.get(name)
    if (variable.raw || busy.has(name) || busy.size > DEEPEST) return variable.value
    const found = expanded.get(name)
    if (found !== undefined) return found
    busy.add(name)
    const others = { get: (other: string) => (other === name ? known.get(name) : get(other)) }
    const value = expandText(variable.value, others).slice(0, LONGEST_VALUE)
    busy.delete(name)
    kept += value.length
    if (kept > MOST_KEPT) throw configFault(TOO_LARGE)
    expanded.set(name, value)
    return value
  }
  return { get, has: (name) => written.has(name) || known.has(name) }
}
