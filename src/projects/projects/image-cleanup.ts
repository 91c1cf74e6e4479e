import { z } from 'zod'
import { patternFault } from '../../base/patterns/check.ts'
import { fault, flag, hash, oneOf, oneOfNumbers, parameter } from '../../http/params.ts'

const CADENCES = ['1d', '7d', '14d', '1month', '3month'] as const
const KEPT = [1, 5, 10, 25, 50, 100] as const
const AGES = ['7d', '14d', '30d', '60d', '90d'] as const

const expression = () =>
  parameter({ type: 'string' }, (raw) => {
    if (typeof raw !== 'string' || raw.length > 255) return fault.invalid
    return patternFault({ source: raw, whole: true }) === undefined ? raw : fault.invalid
  })

/** When tags of images are deleted by themselves, as requests give it (packages/image-cleanup carries it out). */
export const imageCleanupParam = hash({
  enabled: flag().optional(),
  cadence: oneOf(CADENCES).optional(),
  keep_n: oneOfNumbers(KEPT).nullable().optional(),
  older_than: oneOf(AGES).nullable().optional(),
  name_regex: expression().nullable().optional(),
  name_regex_delete: expression().nullable().optional(),
  name_regex_keep: expression().nullable().optional(),
}).optional()

const stored = z.object({
  enabled: z.boolean().default(false),
  cadence: z.enum(CADENCES).default('1d'),
  keep_n: z.int().nullable().default(10),
  older_than: z.enum(AGES).nullable().default('90d'),
  name_regex: z.string().nullable().default('.*'),
  name_regex_keep: z.string().nullable().default(null),
})

export type ImageCleanup = z.infer<typeof stored>

export const imageCleanupEntity = z.strictObject({
  cadence: z.string(),
  enabled: z.boolean(),
  keep_n: z.int().nullable(),
  older_than: z.string().nullable(),
  name_regex: z.string().nullable(),
  name_regex_keep: z.string().nullable(),
  next_run_at: z.string().nullable(),
})

const NAME = 'container_expiration_policy'

/** The policy in the settings of a project. */
export function imageCleanupOf(settings: Readonly<Record<string, unknown>>): ImageCleanup {
  return stored.parse(settings[NAME] ?? {})
}

/** Settings with what a request changed of the policy; the rest of the policy stays. */
export function withImageCleanup(
  before: Readonly<Record<string, unknown>>,
  settings: Record<string, unknown>,
): Record<string, unknown> {
  const given = settings[NAME]
  if (given === undefined || given === before[NAME]) return settings
  const { name_regex_delete, ...rest } = given as NonNullable<z.infer<typeof imageCleanupParam>>
  const sent = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  const regex = name_regex_delete === undefined ? {} : { name_regex: name_regex_delete }
  return { ...settings, [NAME]: { ...imageCleanupOf(before), ...sent, ...regex } }
}
