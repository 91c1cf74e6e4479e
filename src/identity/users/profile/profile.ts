import { z } from 'zod'

/** What of a user is kept as JSON in `users.settings`: nothing asks the database for it. */
const userSettingsSchema = z.object({
  linkedin: z.string().catch('').default(''),
  twitter: z.string().catch('').default(''),
  discord: z.string().catch('').default(''),
  github: z.string().catch('').default(''),
  bluesky: z.string().catch('').default(''),
  mastodon: z.string().catch('').default(''),
  orcid: z.string().catch('').default(''),
  theme_id: z.int().catch(1).default(1),
  color_scheme_id: z.int().catch(1).default(1),
  preferred_language: z.string().catch('en').default('en'),
  view_diffs_file_by_file: z.boolean().catch(false).default(false),
  show_whitespace_in_diffs: z.boolean().catch(true).default(true),
  pass_user_identities_to_ci_jwt: z.boolean().catch(false).default(false),
  auditor: z.boolean().catch(false).default(false),
})

export type UserSettings = z.infer<typeof userSettingsSchema>

/** The settings in a row; what was never set has its default. */
export function readUserSettings(text: string): UserSettings {
  return userSettingsSchema.parse(JSON.parse(text))
}
