import type { Shape } from '../../src/http/endpoint.ts'
import { schemaOf } from '../../src/http/params.ts'

/** A plain value that the schema of a required parameter takes. */
function plain(schema: Readonly<Record<string, unknown>>): unknown {
  const { enum: words, type, format } = schema
  if (Array.isArray(words)) return words[0]
  if (format === 'date-time') return '2026-01-01T00:00:00Z'
  if (format === 'date') return '2026-01-01'
  if (type === 'integer' || type === 'number') return 1
  if (type === 'boolean') return true
  if (type === 'array') return [plain((schema.items as Record<string, unknown>) ?? {})]
  return type === 'object' ? {} : 'x'
}

/** The least that an endpoint asks for, with values that fit its schemas. */
export function requiredOf(shape: Shape): Record<string, unknown> {
  const needed = Object.entries(shape).filter(([, schema]) => !schema.safeParse(undefined).success)
  return Object.fromEntries(needed.map(([name, schema]) => [name, plain(schemaOf(schema))]))
}
