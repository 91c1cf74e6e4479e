import { isObject } from './alert-input.ts'

/** A field of a payload that may be mapped (docs/contract/C-resolved §1.1). */
export interface PayloadField {
  readonly path: (string | number)[]
  readonly label: string
  readonly type: 'array' | 'datetime' | 'string' | 'number'
}

/** Fields beyond this many are not listed. */
const MOST = 1000

/** Every leaf of a payload, and every list, in order. */
export function payloadFields(payload: unknown): PayloadField[] {
  const found: PayloadField[] = []
  collect(found, payload, [])
  return found
}

function collect(found: PayloadField[], value: unknown, path: (string | number)[]): void {
  if (found.length >= MOST) return
  const type = path.length === 0 ? undefined : typeOf(value)
  if (type) found.push({ path, label: labelOf(path), type })
  if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) collect(found, inner, [...path, index])
  } else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) collect(found, inner, [...path, key])
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
