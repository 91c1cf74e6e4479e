import { userColumns } from '../../access/authentication/sign-in-queries.ts'
import type { Instant } from '../../base/clock.ts'
import type { Db, NewRowOf } from '../../store/schema.ts'

export async function insertSession(db: Db, row: NewRowOf<'sessions'>): Promise<void> {
  await db.insertInto('sessions').values(row).execute()
}

/** The session of this digest with its user, or undefined when it is over. */
export function findSessionByDigest(db: Db, digest: Buffer, now: Instant) {
  return db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select(['sessions.id as session_id', ...userColumns])
    .where('sessions.digest', '=', digest)
    .where('sessions.expires_at', '>', now)
    .executeTakeFirst()
}

export async function deleteSession(db: Db, id: number): Promise<void> {
  await db.deleteFrom('sessions').where('id', '=', id).execute()
}

export async function deleteSessionsOfUser(db: Db, userId: number): Promise<void> {
  await db.deleteFrom('sessions').where('user_id', '=', userId).execute()
}

export async function deleteSessionsBefore(db: Db, now: Instant): Promise<void> {
  await db.deleteFrom('sessions').where('expires_at', '<=', now).execute()
}

/** Addresses from which a user has signed in, as far as sessions are still known. */
export async function listPlaces(db: Db, userId: number): Promise<string[]> {
  const rows = await db
    .selectFrom('sessions')
    .select('ip')
    .distinct()
    .where('user_id', '=', userId)
    .where('ip', 'is not', null)
    .execute()
  return rows.flatMap(({ ip }) => (ip === null ? [] : [ip]))
}
