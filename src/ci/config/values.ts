/** A value of a configuration as YAML gives it. */
export type Value = unknown
/** How many values a file has at most, and a configuration with all in it that it names. */
export const MOST_NODES = 200_000
export const MOST_RESOLVED = 500_000
export type ValueMap = Readonly<Record<string, Value>>

const REFERENCE = 'reference'

/** `!reference [.job, script]`, not yet replaced by what it names: no other value is a `Map`, also behind a worker. */
export type Reference = ReadonlyMap<typeof REFERENCE, readonly string[]>

export function makeReference(path: readonly string[]): Reference {
  return new Map([[REFERENCE, path]])
}

/** The path of a reference; undefined for any other value. */
export function referencePath(value: Value): readonly string[] | undefined {
  return value instanceof Map ? (value as Reference).get(REFERENCE) : undefined
}

export function isMap(value: Value): value is ValueMap {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    referencePath(value) === undefined
  )
}

/**
 * Maps are merged, the later wins; lists and everything else are replaced (docs/contract/D §5.1 include). `spend` is told
 * how many keys that took.
 */
export function deepMerge(
  under: ValueMap,
  over: ValueMap,
  spend: (keys: number) => void = () => {},
): ValueMap {
  const merged: Record<string, Value> = { ...under }
  for (const [key, value] of Object.entries(over)) {
    const below = under[key]
    merged[key] = isMap(below) && isMap(value) ? deepMerge(below, value, spend) : value
  }
  spend(Object.keys(merged).length)
  return merged
}

/** The same value with every part put through `change`, from the outside in; `undefined` leaves the part to itself. */
export function mapValues(value: Value, change: (part: Value) => Value | undefined): Value {
  const changed = change(value)
  if (changed !== undefined) return changed
  if (Array.isArray(value)) return value.map((item) => mapValues(item, change))
  if (!isMap(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, mapValues(inner, change)]),
  )
}
