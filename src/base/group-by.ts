/** The items by key, each list in the order of the items. */
export function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}

/** One value for each of the names, under that name. */
export function recordOf<const N extends string, V>(
  names: readonly N[],
  make: (name: N) => V,
): Record<N, V> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<N, V> // made of these
}
