import type { Db } from '../../store/schema.ts'
import { type UserBasicRow, userBasicColumns } from './basic.ts'

/** Users by id. */
export async function listUsersBasic(db: Db, ids: readonly number[]): Promise<UserBasicRow[]> {
  if (ids.length === 0) return []
  return await db
    .selectFrom('users')
    .select(userBasicColumns)
    .where('users.id', 'in', [...ids])
    .orderBy('users.id')
    .execute()
}

const profileColumns = [
  'users.created_at',
  'users.private_profile',
  'users.bio',
  'users.location',
  'users.website_url',
  'users.organization',
  'users.settings',
] as const

export type ProfileRow = Awaited<ReturnType<typeof listUsersWithProfile>>[number]

/** The same with what their profiles say. */
export async function listUsersWithProfile(db: Db, ids: readonly number[]) {
  return await db
    .selectFrom('users')
    .select([...userBasicColumns, ...profileColumns])
    .where('users.id', 'in', [...ids])
    .execute()
}

/** The user who owns each of these mail addresses, by lower-case address. */
export async function listUsersByEmail(
  db: Db,
  emails: readonly string[],
): Promise<(UserBasicRow & { readonly owned: string })[]> {
  const main = db
    .selectFrom('users')
    .select([...userBasicColumns, 'users.email as owned'])
    .where('users.email', 'in', [...emails])
    .where('users.confirmed_at', 'is not', null)
  const others = db
    .selectFrom('emails')
    .innerJoin('users', 'users.id', 'emails.user_id')
    .select([...userBasicColumns, 'emails.email as owned'])
    .where('emails.email', 'in', [...emails])
    .where('emails.confirmed_at', 'is not', null)
  return await main.unionAll(others).execute()
}

/** The user who shows this address to everybody. */
export function findUserByPublicEmail(db: Db, email: string): Promise<UserBasicRow | undefined> {
  return db
    .selectFrom('users')
    .select(userBasicColumns)
    .where('users.public_email', '=', email)
    .where('users.state', '=', 'active')
    .orderBy('users.id')
    .executeTakeFirst()
}
