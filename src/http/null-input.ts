import { z } from 'zod'
import type { Shape } from './endpoint.ts'

type Values = Readonly<Record<string, unknown>>

/**
 * JSON `null` in a parameter, and an empty text for a number or day, means that it is not given (docs/contract/A-resolved §1), unless its schema takes null: to clear a
 * field that can be empty, or as false. Goes down into hashes; lists do so with their items.
 */
export function withoutNulls(shape: Shape, input: Values): Values {
  let kept: Record<string, unknown> | undefined
  for (const [name, value] of Object.entries(input)) {
    const schema = shape[name]
    if (!schema) continue
    const given = givenValue(schema, value)
    if (given === value) continue
    kept ??= { ...input }
    if (given === undefined) delete kept[name]
    else kept[name] = given
  }
  return kept ?? input
}

/** The value of one parameter; undefined when it counts as not given. An empty text says no number and no day: it is null. */
export function givenValue(schema: z.ZodType, value: unknown): unknown {
  if (value === null || (value === '' && isNumberOrDay(schema)))
    return takesNull(schema) ? null : undefined
  if (typeof value !== 'object' || Array.isArray(value)) return value
  const inner = unwrapped(schema)
  return inner instanceof z.ZodObject ? withoutNulls(inner.shape, value as Values) : value
}

function isNumberOrDay(schema: z.ZodType): boolean {
  const shown = unwrapped(schema).meta()?.parameter
  if (typeof shown !== 'object' || shown === null) return false
  const { type, format } = shown as Readonly<Record<string, unknown>> // put there by `parameter`
  return type === 'integer' || type === 'number' || format === 'date' || format === 'date-time'
}

const known = new WeakMap<z.ZodType, boolean>()

function takesNull(schema: z.ZodType): boolean {
  const found = known.get(schema) ?? schema.safeParse(null).success
  known.set(schema, found)
  return found
}

function unwrapped(schema: z.ZodType): z.ZodType {
  let inner = schema
  while (
    inner instanceof z.ZodOptional ||
    inner instanceof z.ZodNullable ||
    inner instanceof z.ZodDefault
  ) {
    inner = inner.unwrap() as z.ZodType // the wrappers are typed for zod's core
  }
  return inner
}
