import type { InferResult } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db, NewRowOf } from '../../store/schema.ts'

export async function insertSession(db: Db, row: NewRowOf<'sessions'>): Promise<void> {
  await db.insertInto('sessions').values(row).execute()
}

/** The sessions of a user that are not over, the newest first. */
export function sessionsQuery(db: Db, userId: number, now: Instant) {
  return db
    .selectFrom('sessions')
    .select(['id', 'ip', 'user_agent', 'created_at', 'expires_at'])
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .where('waits_for', 'is', null)
    .orderBy('id', 'desc')
}

/** What a list shows of a session. */
export type SessionItem = InferResult<ReturnType<typeof sessionsQuery>>[number]

/** Notes that whoever sits at the browser has shown a password, a code or a key. */
export async function noteProof(db: Db, id: number, now: Instant): Promise<void> {
  await db.updateTable('sessions').set({ proved_at: now }).where('id', '=', id).execute()
}

/** Deletes one session of a user; false when it is none of theirs. */
export async function deleteSessionOf(db: Db, userId: number, id: number): Promise<boolean> {
  const done = await db
    .deleteFrom('sessions')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return done.numDeletedRows > 0n
}

/** Deletes all sessions of a user but one. */
export async function deleteOtherSessions(db: Db, userId: number, kept: number): Promise<void> {
  await db.deleteFrom('sessions').where('user_id', '=', userId).where('id', '!=', kept).execute()
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
    .where('waits_for', 'is', null)
    .execute()
  return rows.flatMap(({ ip }) => (ip === null ? [] : [ip]))
}
