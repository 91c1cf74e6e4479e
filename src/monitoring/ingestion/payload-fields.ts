import { isObject } from './alert-input.ts'

/** A field of a payload that may be mapped (docs/contract/C-resolved §1.1). */
export interface PayloadField {
  readonly path: (string | number)[]
  readonly label: string
  readonly type: 'array' | 'datetime' | 'string' | 'number'
}

/** Fields beyond this many are not listed, nor those whose labels would be longer together. */
const MOST = { fields: 1000, characters: 1024 * 1024 }

/** Every leaf of a payload, and every list, in order. */
export function payloadFields(payload: unknown): PayloadField[] {
  const found: PayloadField[] = []
  let room = MOST.characters
  for (const field of fieldsBelow(payload, [])) {
    room -= field.label.length
    if (room < 0 || found.length >= MOST.fields) break
    found.push(field)
  }
  return found
}

function* fieldsBelow(value: unknown, path: (string | number)[]): Generator<PayloadField> {
  const type = path.length === 0 ? undefined : typeOf(value)
  if (type) yield { path, label: labelOf(path), type }
  if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) yield* fieldsBelow(inner, [...path, index])
  } else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) yield* fieldsBelow(inner, [...path, key])
  }
}

function typeOf(value: unknown): PayloadField['type'] | undefined {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'string') return /^\d{4}/.test(value) ? 'datetime' : 'string'
  return Number.isInteger(value) ? 'number' : undefined
}

/** `first/second[0]/third` */
function labelOf(path: readonly (string | number)[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? step : `${text}/${step}`
  }, '')
}
