import type { z } from 'zod'
import { badRequest } from '../../base/problem.ts'
import { fault, parameter } from '../../http/params.ts'

/** What a field of an alert may be read as (docs/contract/C-resolved §1.3 Custom mapping). */
const mappable: Readonly<Record<string, readonly string[]>> = {
  title: ['string'],
  description: ['string'],
  start_time: ['datetime'],
  end_time: ['datetime', 'number'],
  service: ['string'],
  monitoring_tool: ['string'],
  severity: ['string'],
  svc_environment_name: ['string'],
  hosts: ['string', 'array'],
  fingerprint: ['string', 'array'],
}
const MOST_STEPS = 100

/** Largest example of a payload. */
const MAX_EXAMPLE = 1024 * 1024
const MAX_DEPTH = 100

type Json = Record<string, unknown>

/** A JSON object of any shape. */
export function jsonObject(): z.ZodType<Json> {
  return parameter({ type: 'object' }, (raw) =>
    typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? { ...raw } : fault.invalid,
  )
}

export interface Mapping {
  readonly field_name: string
  readonly path: (string | number)[]
  readonly type: string
  readonly label: string | null
}

/** Where the fields of an alert stand in a sender's payloads. */
export function mappingList(): z.ZodType<Mapping[]> {
  const items = { type: 'object', required: ['field_name', 'path', 'type'] }
  const schema = { type: 'array', items, maxItems: Object.keys(mappable).length }
  return parameter(schema, (raw) => {
    if (!Array.isArray(raw)) return fault.invalid
    const read = raw.map(readMapping)
    const found = read.filter((one) => one !== undefined)
    const names = new Set(found.map((one) => one.field_name))
    return found.length === raw.length && names.size === raw.length ? found : fault.invalid
  })
}

function readMapping(raw: unknown): Mapping | undefined {
  if (typeof raw !== 'object' || raw === null) return undefined
  const { field_name: name, path, type, label } = raw as Json // an object, checked right above
  if (typeof name !== 'string' || typeof type !== 'string' || !Array.isArray(path)) return undefined
  if (!mappable[name]?.includes(type.toLowerCase())) return undefined
  if (path.length === 0 || path.length > MOST_STEPS || !path.every(isStep)) return undefined
  if (label !== undefined && label !== null && typeof label !== 'string') return undefined
  return { field_name: name, path, type: type.toLowerCase(), label: label?.slice(0, 255) ?? null }
}

function isStep(step: unknown): step is string | number {
  return (
    (typeof step === 'string' && step.length <= 1000) ||
    (Number.isSafeInteger(step) && Number(step) >= 0)
  )
}

/** The text of an example; too large or too deep is 400. */
export function exampleText(example: Json): string {
  if (depthOf(example) > MAX_DEPTH) throw badRequest('payload_example is nested too deeply')
  const text = JSON.stringify(example)
  if (Buffer.byteLength(text) > MAX_EXAMPLE) throw badRequest('payload_example is too large')
  return text
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Object.values(value).reduce<number>((most, one) => Math.max(most, depthOf(one)), 0)
}
