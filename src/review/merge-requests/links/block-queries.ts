import { sql } from 'kysely'
import type { Instant } from '../../../base/clock.ts'
import { deleteFound } from '../../../store/delete-found.ts'
import type { Db } from '../../../store/schema.ts'

/** What a merge request waits for, or which ones wait for it. */
export function listBlocks(db: Db, end: 'blocked_id' | 'blocking_id', id: number) {
  return db
    .selectFrom('merge_request_blocks')
    .selectAll()
    .where(end, '=', id)
    .orderBy('id')
    .execute()
}

export function insertBlock(db: Db, blockingId: number, blockedId: number, now: Instant) {
  return db
    .insertInto('merge_request_blocks')
    .values({ blocking_id: blockingId, blocked_id: blockedId, created_at: now })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteBlock(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('merge_request_blocks').where('id', '=', id))
}

/** Whether a merge request waits for another, be it by way of third ones. */
export async function waitsFor(db: Db, id: number, otherId: number): Promise<boolean> {
  const { rows } = await sql<{ found: number }>`
    WITH RECURSIVE chain(id) AS (
      SELECT blocking_id FROM merge_request_blocks WHERE blocked_id = ${id}
      UNION
      SELECT b.blocking_id FROM merge_request_blocks b JOIN chain ON chain.id = b.blocked_id
    ) SELECT EXISTS (SELECT 1 FROM chain WHERE id = ${otherId}) AS found`.execute(db)
  return rows[0]?.found === 1
}

export async function listContextShas(db: Db, mergeRequestId: number): Promise<string[]> {
  const rows = await db
    .selectFrom('merge_request_context_commits')
    .select('sha')
    .where('merge_request_id', '=', mergeRequestId)
    .orderBy('created_at')
    .execute()
  return rows.map((row) => row.sha)
}

export async function insertContextShas(
  db: Db,
  mergeRequestId: number,
  shas: readonly string[],
  now: Instant,
): Promise<void> {
  await db
    .insertInto('merge_request_context_commits')
    .values(shas.map((sha) => ({ merge_request_id: mergeRequestId, sha, created_at: now })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function deleteContextShas(
  db: Db,
  mergeRequestId: number,
  shas: readonly string[],
): Promise<void> {
  await db
    .deleteFrom('merge_request_context_commits')
    .where('merge_request_id', '=', mergeRequestId)
    .where('sha', 'in', shas)
    .execute()
}
