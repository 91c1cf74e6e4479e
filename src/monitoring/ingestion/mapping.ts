import { isObject, type Payload, present } from './alert-input.ts'

/** Where a field of an alert stands in the payloads of one sender (docs/contract/C-resolved §1.3). */
export interface FieldMapping {
  readonly field_name: string
  readonly path: readonly (string | number)[]
  readonly type: string
  readonly label: string | null
}

/** What an integration's mappings find in a payload; undefined where they find nothing, or a blank. */
export type Mapped = (
  field: string,
) => { readonly value: unknown; readonly type: string } | undefined

export function readMapped(payload: Payload, mappings: readonly FieldMapping[]): Mapped {
  return (field) => {
    const mapping = mappings.find((one) => one.field_name === field)
    const value = mapping && present(walk(payload, mapping.path))
    return mapping && value !== undefined ? { value, type: mapping.type } : undefined
  }
}

function walk(value: unknown, path: readonly (string | number)[]): unknown {
  let at = value
  for (const step of path) {
    if (Array.isArray(at)) at = /^\d+$/.test(String(step)) ? at[Number(step)] : undefined
    else if (isObject(at)) at = Object.hasOwn(at, String(step)) ? at[String(step)] : undefined
    else return undefined
  }
  return at
}
