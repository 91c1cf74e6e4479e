type Json = Record<string, unknown>

/** Object schemas shorter than this stay where they are. */
const LEAST_LENGTH = 200

interface Counted {
  readonly name: string
  count: number
}

/**
 * Takes object schemas that stand in several places out into `components`, and leaves references; names come from where
 * a schema is met first. Deterministic for the same order of additions.
 */
export class SharedSchemas {
  private readonly counted = new Map<string, Counted>()
  private readonly names = new Set<string>()
  readonly schemas: Record<string, unknown> = {}

  /** Counts a schema and those inside it; all have to be counted before any is replaced. */
  count(schema: unknown, name: string): void {
    if (typeof schema !== 'object' || schema === null) return
    if (isObjectSchema(schema) && this.isKnown(schema, name)) return
    for (const [key, inner] of Object.entries(schema)) {
      if (key === 'properties') this.countProperties(inner as Json, name)
      else this.count(inner, name)
    }
  }

  private countProperties(properties: Json, name: string): void {
    for (const [property, schema] of Object.entries(properties)) {
      this.count(schema, name + capital(property))
    }
  }

  /** Counts an object schema; one that was met before has nothing new inside. */
  private isKnown(schema: object, name: string): boolean {
    const text = JSON.stringify(schema)
    const known = this.counted.get(text)
    if (known) known.count += 1
    else if (text.length >= LEAST_LENGTH)
      this.counted.set(text, { name: this.nameFor(name), count: 1 })
    return known !== undefined
  }

  /** The schema with references for all that is shared. */
  replace(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((inner) => this.replace(inner))
    if (typeof schema !== 'object' || schema === null) return schema
    const known = isObjectSchema(schema) ? this.counted.get(JSON.stringify(schema)) : undefined
    if (!known || known.count < 2) return this.replaceInside(schema)
    if (!(known.name in this.schemas)) {
      this.schemas[known.name] = null // keeps its place while the inside is replaced
      this.schemas[known.name] = this.replaceInside(schema)
    }
    return { $ref: `#/components/schemas/${known.name}` }
  }

  private replaceInside(schema: object): Json {
    return Object.fromEntries(
      Object.entries(schema).map(([key, inner]) => [key, this.replace(inner)]),
    )
  }

  private nameFor(wanted: string): string {
    let name = wanted
    for (let n = 2; this.names.has(name); n += 1) name = `${wanted}${n}`
    this.names.add(name)
    return name
  }
}

function isObjectSchema(schema: object): boolean {
  return 'type' in schema && schema.type === 'object' && 'properties' in schema
}

/** `merge_requests` → `MergeRequests`. */
export function capital(words: string): string {
  return words
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}
