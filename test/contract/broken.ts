import type { z } from 'zod'
import type { Endpoint } from '../../src/http/endpoint.ts'
import { type ParameterSchema, schemaOf } from '../../src/http/params.ts'

/** A parameter with a value that its declaration does not take. */
export interface BrokenParameter {
  readonly name: string
  readonly value: unknown
  /** What the answer says of it, in the words of docs/contract/A-resolved §1; missing where the schema has words of its own. */
  readonly says: string | undefined
}

const notText = { is: ['no', 'text'] }

/** Values that a parameter of this kind can't have, each with the words for it. */
function wrongValues(schema: ParameterSchema): readonly (readonly [unknown, string])[] {
  const { enum: words, type, format } = schema
  if (Array.isArray(words)) {
    return [
      type === 'integer'
        ? [987_654, 'does not have a valid value']
        : ['no-such-word', 'does not have a valid value'],
    ]
  }
  if (type === 'integer' || type === 'number') return [['1x', 'is invalid']]
  if (type === 'boolean') return [['perhaps', 'is invalid']]
  if (format === 'date' || format === 'date-time') return [['2026-13-45', 'is invalid']]
  if (format === 'binary') return [['no file', 'is invalid']]
  if (type === 'object') return [['no hash', 'is invalid']]
  if (type === 'array') {
    const items = wrongValues((schema.items as ParameterSchema | undefined) ?? {})
    return [...items.map(([value, says]) => [[value], says] as const), [notText, 'is invalid']]
  }
  return [[notText, 'is invalid']]
}

function brokenOf(name: string, schema: z.ZodType): BrokenParameter[] {
  const declared = schemaOf(schema)
  const isPlain = 'type' in declared || 'enum' in declared
  for (const [value, says] of wrongValues(declared)) {
    if (schema.safeParse(value).success) continue
    return [{ name, value, says: isPlain && declared.type !== 'array' ? says : undefined }]
  }
  return []
}

/** Each declared parameter of an endpoint, broken one at a time. */
export function brokenParameters(endpoint: Endpoint): BrokenParameter[] {
  const reads = endpoint.method === 'GET' || endpoint.method === 'HEAD'
  const shape = reads
    ? endpoint.query
    : { ...endpoint.query, ...(endpoint.raw ? {} : endpoint.body) }
  return Object.entries(shape).flatMap(([name, schema]) => brokenOf(name, schema))
}
