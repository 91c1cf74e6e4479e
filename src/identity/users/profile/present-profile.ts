import { z } from 'zod'
import { isAdmin } from '../../../access/actor.ts'
import type { Ctx } from '../../../ctx.ts'
import { presentUserBasic, userBasicEntity } from '../basic.ts'
import { listUsersWithProfile, type ProfileRow } from '../basic-queries.ts'
import { readUserSettings } from './profile.ts'

/** A user with the public profile, as jobs show who started them (docs/contract/B §Job). */
export const userWithProfileEntity = z.strictObject({
  ...userBasicEntity.shape,
  created_at: z.string(),
  bio: z.string(),
  location: z.string(),
  skype: z.string(),
  linkedin: z.string(),
  twitter: z.string(),
  website_url: z.string(),
  organization: z.string(),
})

type UserWithProfile = z.input<typeof userWithProfileEntity>

/** Users by id with their profiles, empty where one is private; null ids are passed over. */
export async function usersWithProfileById(
  ctx: Pick<Ctx, 'db' | 'config' | 'actor'>,
  ids: readonly (number | null)[],
): Promise<Map<number, UserWithProfile>> {
  const wanted = [...new Set(ids.filter((id) => id !== null))]
  if (wanted.length === 0) return new Map()
  const rows = await listUsersWithProfile(ctx.db, wanted)
  return new Map(rows.map((row) => [row.id, presentUserWithProfile(ctx, row)]))
}

function presentUserWithProfile(
  ctx: Pick<Ctx, 'config' | 'actor'>,
  row: ProfileRow,
): UserWithProfile {
  const isHidden = row.private_profile === 1 && !isAdmin(ctx.actor)
  const shown = (text: string | null) => (isHidden ? '' : (text ?? ''))
  const { linkedin, twitter } = readUserSettings(row.settings)
  return {
    ...presentUserBasic(ctx, row),
    created_at: row.created_at,
    bio: shown(row.bio),
    location: shown(row.location),
    // The network is gone; clients still expect the field.
    skype: '',
    linkedin: shown(linkedin),
    twitter: shown(twitter),
    website_url: shown(row.website_url),
    organization: shown(row.organization),
  }
}
