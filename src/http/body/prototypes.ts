const POISON = new Set(['__proto__', 'constructor', 'prototype'])

/** In every text that has such a key; a letter may also be written as its code. */
const TRACES = ['proto', 'constructor', '\\u']

/** Whether a JSON document can have such keys: most cannot, and need not be gone through. */
export function mayNamePrototypes(text: string): boolean {
  return TRACES.some((trace) => text.includes(trace))
}

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
