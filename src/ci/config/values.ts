/** A value of a configuration as YAML gives it. */
export type Value = unknown
/** How many values a file has at most, and a configuration with all in it that it names. */
export const MOST_NODES = 200_000
export const MOST_RESOLVED = 500_000
/** How many characters either has at most, each text counted wherever it stands: a worker gets and gives copies. */
export const MOST_CHARACTERS = 20_000_000
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

/** The characters of a text, or of a map's keys. */
export function charactersOf(value: Value): number {
  if (typeof value === 'string') return value.length
  return isMap(value) ? Object.keys(value).reduce((sum, key) => sum + key.length, 0) : 0
}

/** Whether a value has no more characters and parts than so many; looked at no further than that. */
export function isShort(value: Value, most: number): boolean {
  let left = most
  const visit = (part: Value): boolean => {
    left -= 1 + charactersOf(part)
    if (left < 0) return false
    if (Array.isArray(part)) return part.every(visit)
    return !isMap(part) || Object.values(part).every(visit)
  }
  return visit(value)
}

/**
 * Maps are merged, the later wins; lists and everything else are replaced (docs/contract/D §5.1 include). `spend` gets
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
