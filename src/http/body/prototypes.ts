const POISON = new Set(['__proto__', 'constructor', 'prototype'])

/** The same value without keys that could reach a prototype (docs/faults 36). */
export function withoutPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototypes)
  if (typeof value !== 'object' || value === null) return value
  const clean: Record<string, unknown> = {}
  for (const [key, inner] of Object.entries(value)) {
    if (!POISON.has(key)) clean[key] = withoutPrototypes(inner)
  }
  return clean
}
