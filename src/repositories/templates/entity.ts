import { z } from 'zod'

/** A template in a list. */
export const templateBrief = z.strictObject({ key: z.string(), name: z.string() })

export const templateEntity = z.strictObject({ name: z.string(), content: z.string() })

export const licenseEntity = z.strictObject({
  key: z.string(),
  name: z.string(),
  nickname: z.string().nullable(),
  popular: z.boolean(),
  html_url: z.string(),
  source_url: z.string().nullable(),
  description: z.string(),
  conditions: z.array(z.string()),
  permissions: z.array(z.string()),
  limitations: z.array(z.string()),
  content: z.string(),
})
export type LicenseTemplate = z.input<typeof licenseEntity>
