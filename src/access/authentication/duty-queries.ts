import { sql } from 'kysely'
import type { Day, Instant } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'
import { isLive } from '../visible-queries.ts'

/** Groups that require a second factor; a partial index holds just these. */
const REQUIRES = sql`json_extract(required.settings, '$.require_two_factor_authentication') = 1`

/**
 * The shortest time that groups give a user for setting a second factor up; undefined where none requires one. A group
 * asks its members, those of the groups above it, who are members there too, and those of the groups below it.
 */
export async function findGroupGrace(
  db: Db,
  userId: number,
  today: Day,
): Promise<number | undefined> {
  const { rows } = await sql<{ hours: number | null }>`
    SELECT min(coalesce(json_extract(required.settings, '$.two_factor_grace_period'), 48)) AS hours
    FROM namespaces required
    WHERE ${REQUIRES} AND required.pending_delete = 0 AND EXISTS (
      SELECT 1 FROM members m
      WHERE m.user_id = ${userId} AND m.source_type = 'group'
        AND ${isLive(today)}
        AND (m.source_id IN (SELECT namespace_id FROM namespace_ancestors WHERE ancestor_id = required.id)
          OR m.source_id IN (SELECT ancestor_id FROM namespace_ancestors WHERE namespace_id = required.id)))`.execute(
    db,
  )
  return rows[0]?.hours ?? undefined
}

export async function findTwoFactorRequest(db: Db, userId: number): Promise<Instant | undefined> {
  const row = await db
    .selectFrom('two_factor_requests')
    .select('asked_at')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row?.asked_at
}

export async function noteTwoFactorRequest(db: Db, userId: number, now: Instant): Promise<void> {
  await db
    .insertInto('two_factor_requests')
    .values({ user_id: userId, asked_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
