import { isMap, type Value } from './values.ts'

/** Variables by name, as conditions and texts of a configuration see them. */
export type Variables = ReadonlyMap<string, string>

/** A variable of a configuration. */
export interface YamlVariable {
  readonly key: string
  readonly value: string
  /** Whether `$NAME` in the value stays as it is. */
  readonly raw: boolean
}

/** The variables of a `variables:` map, or what is wrong with it. */
export function readVariables(value: Value): YamlVariable[] | undefined {
  if (value === undefined || value === null) return []
  if (!isMap(value)) return undefined
  const found: YamlVariable[] = []
  for (const [key, given] of Object.entries(value)) {
    const inner = isMap(given) ? given.value : given
    if (inner !== undefined && inner !== null && !isPlain(inner)) return undefined
    const raw = isMap(given) && given.expand === false
    found.push({ key, value: inner === undefined || inner === null ? '' : String(inner), raw })
  }
  return found
}

function isPlain(value: Value): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

const LONGEST_VALUE = 65_536

/** Puts the values of `$NAME`, `${NAME}` and `%NAME%` into a text; unknown ones stay (docs/contract/D §5.5). */
export function expandText(text: string, variables: Variables): string {
  return text.replaceAll(
    /\$\$|\$(\w+)|\$\{(\w+)\}|%(\w+)%/g,
    (mark, plain?: string, braced?: string, percent?: string) => {
      if (mark === '$$') return '$'
      return variables.get(plain ?? braced ?? percent ?? '') ?? mark
    },
  )
}

/**
 * Puts further variables over what is known, values expanded by those known before and by each other, in the order that
 * needs it; what needs itself stays as it is written.
 */
export function withVariables(known: Variables, more: readonly YamlVariable[]): Variables {
  if (more.length === 0) return known
  const values = new Map(known)
  for (const { key, value } of more) values.set(key, value)
  const open = new Map(more.map((variable) => [variable.key, variable]))
  const busy = new Set<string>()
  const resolve = (variable: YamlVariable): void => {
    if (!open.has(variable.key) || busy.has(variable.key)) return
    busy.add(variable.key)
    if (!variable.raw) {
      for (const name of namesIn(variable.value)) {
        const needed = open.get(name)
        if (needed) resolve(needed)
      }
      const others = withOwn(values, variable.key, known.get(variable.key))
      values.set(variable.key, expandText(variable.value, others).slice(0, LONGEST_VALUE))
    }
    busy.delete(variable.key)
    open.delete(variable.key)
  }
  for (const variable of more) resolve(variable)
  return values
}

function namesIn(text: string): string[] {
  return [...text.matchAll(/\$(\w+)|\$\{(\w+)\}/g)].map(
    ([, plain, braced]) => plain ?? braced ?? '',
  )
}

/** A variable that names itself means the value below it. */
function withOwn(values: Variables, key: string, below: string | undefined): Variables {
  const others = new Map(values)
  others.delete(key)
  if (below !== undefined) others.set(key, below)
  return others
}
