import type { z } from 'zod'
import { fault, list, parameter } from '../../../http/params.ts'
import type { RunVariable } from './pipeline-input.ts'

const KEY = /^[A-Za-z0-9_]{1,255}$/
export const LONGEST_VALUE = 10_000

export function isVariableKey(text: string): boolean {
  return KEY.test(text)
}

/** Variables of a run: `[{key, value, variable_type}]` (docs/contract/D §1.15, §5.7). */
export function runVariables(): z.ZodType<RunVariable[]> {
  return list(
    parameter(
      {
        type: 'object',
        required: ['key', 'value'],
        properties: {
          key: { type: 'string', pattern: KEY.source },
          value: { type: 'string', maxLength: LONGEST_VALUE },
          variable_type: { type: 'string', enum: ['env_var', 'file'] },
        },
      },
      readVariable,
    ),
    { max: 8000 },
  )
}

function readVariable(raw: unknown) {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return fault.invalid
  const { key, value, variable_type = 'env_var' } = raw as Record<string, unknown> // any object
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
  if (typeof key !== 'string' || !KEY.test(key) || typeof text !== 'string') return fault.invalid
  if (text.length > LONGEST_VALUE) return fault.invalid
  if (variable_type !== 'env_var' && variable_type !== 'file') return fault.notAllowed
  return { key, value: text, variable_type } satisfies RunVariable
}

/** Values for the inputs that a configuration declares. */
export function runInputs(): z.ZodType<Record<string, unknown>> {
  return parameter({ type: 'object', additionalProperties: true }, (raw) => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return fault.invalid
    return { ...raw }
  })
}
