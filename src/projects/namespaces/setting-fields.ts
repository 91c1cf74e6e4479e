import { z } from 'zod'
import { flag, integer, oneOf, regex, text } from '../../http/params.ts'

/**
 * One setting of a project or group: how a request gives it, how an answer shows it, and what it is until somebody sets it.
 */
export interface Setting<T> {
  readonly param: z.ZodType<T>
  readonly wire: z.ZodType<T>
  readonly preset: T
}

/** Settings by name. */
type SettingTable = Readonly<Record<string, Setting<unknown>>>

export type SettingValue<S> = S extends Setting<infer T> ? T : never

export type SettingValues<S extends SettingTable> = {
  readonly [K in keyof S]: SettingValue<S[K]>
}

export function setting<T>(param: z.ZodType<T>, wire: z.ZodType<T>, preset: T): Setting<T> {
  return { param, wire, preset }
}

export const onOff = (preset: boolean) => setting(flag(), z.boolean(), preset)

export function word<const T extends string>(words: readonly T[], preset: NoInfer<T>): Setting<T> {
  return setting<T>(oneOf(words), z.enum(words) as unknown as z.ZodType<T>, preset)
}

export const optionalText = (max: number) =>
  setting<string | null>(text({ max }).nullable(), z.string().nullable(), null)

export const optionalRegex = (options: Parameters<typeof regex>[0]) =>
  setting<string | null>(regex(options).nullable(), z.string().nullable(), null)

export const number = (preset: number, min: number, max: number) =>
  setting(integer({ min, max }), z.int(), preset)

export const optionalNumber = (min: number, max: number) =>
  setting<number | null>(integer({ min, max }).nullable(), z.int().nullable(), null)

/** What `read` makes of each setting of a table, under the same names. */
function each<S extends SettingTable>(
  table: S,
  read: (one: Setting<unknown>, name: string) => unknown,
) {
  return Object.fromEntries(Object.entries(table).map(([name, one]) => [name, read(one, name)]))
}

/** Every setting of a table, presets filled in. */
export function settingValues<S extends SettingTable>(
  table: S,
  settings: Readonly<Record<string, unknown>>,
): SettingValues<S> {
  const values = each(table, (one, name) => (name in settings ? settings[name] : one.preset))
  return values as SettingValues<S> // made of exactly these names
}

/** Body parameters for a table of settings. */
export function settingParams<S extends SettingTable>(
  table: S,
): { readonly [K in keyof S]: z.ZodOptional<z.ZodType<SettingValue<S[K]>>> } {
  return each(table, (one) => one.param.optional()) as never // made of exactly these names
}

/** Fields of the answer for a table of settings. */
export function settingFields<S extends SettingTable>(
  table: S,
): { readonly [K in keyof S]: z.ZodType<SettingValue<S[K]>> } {
  return each(table, (one) => one.wire) as never // made of exactly these names
}

/** Those settings of a table that a request sent. */
export function sentValues(
  table: SettingTable,
  body: Readonly<Record<string, unknown>>,
  sent: ReadonlySet<string>,
): Record<string, unknown> {
  const names = Object.keys(table).filter((name) => sent.has(name) && body[name] !== undefined)
  return Object.fromEntries(names.map((name) => [name, body[name]]))
}

/** Those of foreign settings, such as an archive's, that are in a table and have values that we would take. */
export function knownValues(
  table: SettingTable,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  for (const [name, one] of Object.entries(table)) {
    const read = name in given ? one.wire.safeParse(given[name]) : undefined
    // How long a text and how large a number may be is said by the parameter alone.
    if (read?.success && one.param.safeParse(read.data).success) found[name] = read.data
  }
  return found
}
