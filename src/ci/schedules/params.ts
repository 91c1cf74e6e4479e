import { fault, flag, list, oneOf, parameter, text } from '../../http/params.ts'
import { LONGEST_VALUE } from '../pipelines/create/run-params.ts'

/** A value for an input of the configuration; `destroy` takes it away. */
export interface GivenInput {
  readonly name: string
  readonly value?: unknown
  readonly destroy?: boolean
}

const input = parameter<GivenInput>(
  {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string' }, value: {}, destroy: { type: 'boolean' } },
  },
  (raw) => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return fault.invalid
    const { name, value, destroy } = raw as Record<string, unknown> // any object
    if (typeof name !== 'string' || name === '' || name.length > 255) return fault.invalid
    if (JSON.stringify(value ?? null).length > LONGEST_VALUE) return fault.invalid
    return { name, value, destroy: destroy === true || destroy === 'true' }
  },
)

export const scheduleParameters = {
  description: text({ max: 255 }),
  ref: text({ max: 1024 }),
  cron: text({ max: 255 }),
}

export const scheduleOptions = {
  cron_timezone: text({ max: 255 }).optional(),
  active: flag().optional(),
  inputs: list(input, { max: 20 }).optional(),
}

export const variableParameters = {
  value: text({ max: LONGEST_VALUE }),
  variable_type: oneOf(['env_var', 'file']).optional(),
}
