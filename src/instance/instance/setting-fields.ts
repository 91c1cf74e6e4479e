import { z } from 'zod'
import {
  type SettingDefinition,
  type SettingName,
  type SettingValues,
  settingDefinitions,
} from '../../access/setting-definitions.ts'
import { isPlace } from '../../base/setting.ts'
import { csv, flag, integer, oneOf, regex, text } from '../../http/params.ts'

/** `null` and the empty text clear what may be unset. */
function orNothing<T>(schema: z.ZodType<T>): z.ZodType<T | null> {
  return text({ max: 0 })
    .transform(() => null)
    .or(schema)
    .nullable()
}

function paramOf(definition: SettingDefinition): z.ZodType {
  switch (definition.kind) {
    case 'flag':
      return flag()
    case 'integer': {
      const number = integer({ min: definition.min, max: 2 ** 40 })
      return definition.preset === null ? orNothing(number) : number
    }
    case 'word':
      return oneOf(definition.words)
    case 'list':
      if (definition.words) return csv(oneOf(definition.words))
      return csv(definition.places ? text({ max: 1000 }).refine(isPlace) : text({ max: 1000 }))
    case 'regex':
      return orNothing(regex({ max: 10_000, read: (source) => ({ source, flags: 'i' }) }))
    case 'text':
      return definition.preset === null
        ? orNothing(text({ max: 100_000 }))
        : text({ max: 100_000 })
            .nullable()
            .transform((value) => value ?? '')
  }
}

function entityOf(definition: SettingDefinition): z.ZodType {
  switch (definition.kind) {
    case 'flag':
      return z.boolean()
    case 'integer':
      return definition.preset === null ? z.int().nullable() : z.int()
    case 'word':
      return z.enum(definition.words as [string, ...string[]])
    case 'list':
      return z.array(z.string())
    case 'regex':
      return z.string().nullable()
    case 'text':
      return definition.preset === null ? z.string().nullable() : z.string()
  }
}

const definitions = Object.entries(settingDefinitions) as [SettingName, SettingDefinition][]

/** Parameters of `PUT /application/settings`: every setting may be sent. */
export const settingParams: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  definitions.map(([name, definition]) => [name, paramOf(definition).optional()]),
)

export const settingsEntity = z.strictObject(
  Object.fromEntries(definitions.map(([name, definition]) => [name, entityOf(definition)])),
)

/** The settings among the parameters that were really sent. */
export function sentSettings(
  body: Readonly<Record<string, unknown>>,
  sent: ReadonlySet<string>,
): Partial<SettingValues> {
  return Object.fromEntries(
    definitions
      .map(([name]) => name)
      .filter((name) => sent.has(name) && body[name] !== undefined)
      .map((name) => [name, body[name]]),
  ) as Partial<SettingValues> // each was read by the parameter of its own definition
}
