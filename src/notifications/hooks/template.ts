/** A name and a secret value: a header, or a part of the URL. */
export interface Pair {
  readonly key: string
  readonly value: string
}

/** The URL with each `{name}` replaced by its value. */
export function fillUrl(url: string, variables: readonly Pair[]): string {
  const values = new Map(variables.map((one) => [one.key, one.value]))
  return url.replaceAll(
    /\{([A-Za-z][A-Za-z0-9_]*)\}/g,
    (all, key: string) => values.get(key) ?? all,
  )
}

/**
 * The body that a custom template asks for: `{{object.field}}` becomes the value there in the payload, texts escaped
 * for JSON. Gives undefined when what comes out is no JSON.
 */
export function fillTemplate(template: string, payload: unknown): string | undefined {
  const filled = template.replaceAll(/\{\{\s*([A-Za-z0-9_.]+)\s*\}\}/g, (_all, path: string) => {
    const value = valueAt(payload, path.split('.'))
    const text = JSON.stringify(value ?? '')
    return typeof (value ?? '') === 'string' ? text.slice(1, -1) : text
  })
  try {
    JSON.parse(filled)
    return filled
  } catch {
    return undefined
  }
}

function valueAt(payload: unknown, path: readonly string[]): unknown {
  let value = payload
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}
