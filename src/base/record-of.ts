/** One value for each of the names, under that name. */
export function recordOf<const N extends string, V>(
  names: readonly N[],
  make: (name: N) => V,
): Record<N, V> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<N, V> // made of these
}
