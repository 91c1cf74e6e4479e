import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { presentUserBasic, type UserBasic, userBasicEntity } from './basic.ts'
import { readUserSettings } from './profile/profile.ts'
import { maySeeProfile } from './profile/visible-profile.ts'
import type { UserDetails } from './queries.ts'

const text = z.string().nullable()

/** What a private profile hides from others. */
const profileFields = {
  created_at: text,
  bio: text,
  location: text,
  linkedin: z.string(),
  twitter: z.string(),
  discord: z.string(),
  bluesky: z.string(),
  mastodon: z.string(),
  orcid: z.string(),
  website_url: text,
  github: z.string(),
  job_title: text,
  pronouns: text,
  organization: text,
  bot: z.boolean(),
  work_information: text,
  local_time: text,
  followers: z.int(),
  following: z.int(),
} as const

/** What people see of themselves, and administrators of everybody (docs/contract/D §1.1). */
const ownFields = {
  last_sign_in_at: text,
  confirmed_at: text,
  last_activity_on: text,
  email: z.string(),
  theme_id: z.int(),
  color_scheme_id: z.int(),
  projects_limit: z.int(),
  current_sign_in_at: text,
  identities: z.array(z.strictObject({ provider: z.string(), extern_uid: z.string() })),
  can_create_group: z.boolean(),
  can_create_project: z.boolean(),
  two_factor_enabled: z.boolean(),
  external: z.boolean(),
  private_profile: z.boolean(),
  commit_email: z.string(),
  preferred_language: z.string(),
} as const

const adminFields = {
  is_admin: z.boolean(),
  is_auditor: z.boolean(),
  note: text,
  namespace_id: z.int().nullable(),
  created_by: userBasicEntity.nullable(),
  email_reset_offered_at: text,
  using_license_seat: z.boolean(),
  highest_role: z.int(),
  current_sign_in_ip: text,
  last_sign_in_ip: text,
} as const

export const userEntity = z.strictObject({
  ...userBasicEntity.shape,
  ...z.strictObject(profileFields).partial().shape,
  is_followed: z.boolean().optional(),
  ...z.strictObject(ownFields).partial().shape,
  ...z.strictObject(adminFields).partial().shape,
  custom_attributes: z.array(z.strictObject({ key: z.string(), value: z.string() })).optional(),
  key: z.unknown().optional(),
})

export type User = z.input<typeof userEntity>

type Facts = Pick<Ctx, 'config' | 'actor' | 'settings'>

/** The public profile; one kept private shows others what lists show. */
export function presentProfile(ctx: Facts, row: UserDetails, isFollowed?: boolean): User {
  const basic = presentUserBasic(ctx, row)
  if (!maySeeProfile(ctx, row)) return basic
  return {
    ...basic,
    ...profileOf(row),
    ...(isFollowed === undefined ? {} : { is_followed: isFollowed }),
  }
}

function profileOf(row: UserDetails) {
  const settings = readUserSettings(row.settings)
  const work = [row.job_title, row.organization].filter((part) => part)
  return {
    created_at: row.created_at,
    bio: row.bio ?? '',
    location: row.location ?? '',
    linkedin: settings.linkedin,
    twitter: settings.twitter,
    discord: settings.discord,
    bluesky: settings.bluesky,
    mastodon: settings.mastodon,
    orcid: settings.orcid,
    website_url: row.website_url ?? '',
    github: settings.github,
    job_title: row.job_title ?? '',
    pronouns: row.pronouns,
    organization: row.organization ?? '',
    bot: row.kind !== 'human' && row.kind !== 'ghost',
    work_information: work.length > 0 ? work.join(' at ') : null,
    local_time: null,
    followers: row.followers,
    following: row.following,
  }
}

/** Whether a user may make groups at the top, after all that may stand against it. */
function canCreateGroup({ settings }: Facts, row: UserDetails): boolean {
  if (row.admin === 1) return true
  return row.can_create_group === 1 && row.external === 0 && settings.get('can_create_group')
}

function ownOf(ctx: Facts, row: UserDetails) {
  const settings = readUserSettings(row.settings)
  return {
    last_sign_in_at: row.last_sign_in_at,
    confirmed_at: row.confirmed_at,
    last_activity_on: row.last_activity_on,
    email: row.email,
    theme_id: settings.theme_id,
    color_scheme_id: settings.color_scheme_id,
    projects_limit: row.projects_limit,
    current_sign_in_at: row.current_sign_in_at,
    identities: JSON.parse(row.identities) as { provider: string; extern_uid: string }[], // made by our query
    can_create_group: canCreateGroup(ctx, row),
    can_create_project: row.projects_limit > 0 && row.external === 0,
    two_factor_enabled: row.two_factor === 1,
    external: row.external === 1,
    private_profile: row.private_profile === 1,
    commit_email: row.commit_email ?? row.email,
    preferred_language: settings.preferred_language,
  }
}

function adminOf(row: UserDetails, createdBy: UserBasic | undefined) {
  return {
    is_admin: row.admin === 1,
    is_auditor: readUserSettings(row.settings).auditor,
    note: row.note,
    namespace_id: row.namespace_id,
    created_by: createdBy ?? null,
    email_reset_offered_at: null,
    using_license_seat: row.kind === 'human' && row.state === 'active',
    highest_role: row.highest_role ?? 0,
    current_sign_in_ip: null,
    last_sign_in_ip: null,
  }
}

/** Everything about a user, with who created them, for administrators. */
export function presentFullUser(
  ctx: Facts,
  row: UserDetails,
  createdBy: UserBasic | undefined,
): User {
  return {
    ...presentUserBasic(ctx, row),
    ...profileOf(row),
    ...ownOf(ctx, row),
    ...adminOf(row, createdBy),
  }
}

/** The caller's own record, of one who is no administrator. */
export function presentOneself(ctx: Facts, row: UserDetails): User {
  return { ...presentUserBasic(ctx, row), ...profileOf(row), ...ownOf(ctx, row) }
}
