import { z } from 'zod'
import { flag, integer, oneOf, text } from '../../http/params.ts'

/**
 * One setting of a project or group: how a request gives it, how an answer shows it, and what it is until somebody sets it.
 */
export interface Setting<T> {
  readonly param: z.ZodType<T>
  readonly wire: z.ZodType<T>
  readonly preset: T
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

export const number = (preset: number, min: number, max: number) =>
  setting(integer({ min, max }), z.int(), preset)

export const optionalNumber = (min: number, max: number) =>
  setting<number | null>(integer({ min, max }).nullable(), z.int().nullable(), null)
