import { type SqlBool, sql } from 'kysely'
import type { Instant } from '../../../base/clock.ts'
import { userBasicColumns } from '../../../identity/users/basic.ts'
import type { Db, Schema } from '../../../store/schema.ts'

export type ReviewerState = NonNullable<Schema['merge_request_reviewers']['state']['__select__']>

/** Reviewers of many merge requests, in the order in which they were asked. */
export async function listReviewers(db: Db, ids: readonly number[]) {
  if (ids.length === 0) return []
  return await db
    .selectFrom('merge_request_reviewers')
    .innerJoin('users', 'users.id', 'merge_request_reviewers.user_id')
    .select(userBasicColumns)
    .select([
      'merge_request_reviewers.merge_request_id',
      'merge_request_reviewers.state as review_state',
      'merge_request_reviewers.created_at as asked_at',
    ])
    .where('merge_request_id', 'in', ids)
    .orderBy('merge_request_reviewers.created_at')
    .orderBy('users.id')
    .execute()
}

export async function insertReviewers(
  db: Db,
  mergeRequestId: number,
  userIds: readonly number[],
  now: Instant,
): Promise<void> {
  if (userIds.length === 0) return
  await db
    .insertInto('merge_request_reviewers')
    .values(
      userIds.map((user_id) => ({ merge_request_id: mergeRequestId, user_id, created_at: now })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function deleteReviewers(
  db: Db,
  mergeRequestId: number,
  userIds: readonly number[],
): Promise<void> {
  if (userIds.length === 0) return
  await db
    .deleteFrom('merge_request_reviewers')
    .where('merge_request_id', '=', mergeRequestId)
    .where('user_id', 'in', userIds)
    .execute()
}

/** What comments do not undo. */
const decided: readonly ReviewerState[] = ['approved', 'requested_changes']

/** Notes what a reviewer did; nothing for whoever was not asked. */
export async function updateReviewerState(
  db: Db,
  mergeRequestId: number,
  userId: number,
  state: ReviewerState,
): Promise<void> {
  const isComment = state === 'reviewed' || state === 'review_started'
  await db
    .updateTable('merge_request_reviewers')
    .set({ state })
    .where('merge_request_id', '=', mergeRequestId)
    .where('user_id', '=', userId)
    .where('state', 'not in', isComment ? decided : [])
    .execute()
}

/** Reviewers whose approval was taken back from them are shown as having approved no longer. */
export async function forgetLostApprovals(db: Db, mergeRequestId: number): Promise<void> {
  const left = db
    .selectFrom('approvals')
    .select('user_id')
    .where('merge_request_id', '=', mergeRequestId)
  await db
    .updateTable('merge_request_reviewers')
    .set({ state: 'unapproved' })
    .where('merge_request_id', '=', mergeRequestId)
    .where('state', '=', 'approved')
    .where('user_id', 'not in', left)
    .execute()
}

/** A reviewer who threw all drafts away has not begun. */
export async function forgetStartedReview(
  db: Db,
  mergeRequestId: number,
  userId: number,
): Promise<void> {
  await db
    .updateTable('merge_request_reviewers')
    .set({ state: 'unreviewed' })
    .where('merge_request_id', '=', mergeRequestId)
    .where('user_id', '=', userId)
    .where('state', '=', 'review_started')
    .execute()
}

/** Everybody who had a part in a merge request: its author, assignees, reviewers, and who wrote or approved. */
export async function listParticipants(db: Db, mergeRequestId: number) {
  return await db
    .selectFrom('users')
    .select(userBasicColumns)
    .where(
      sql<SqlBool>`users.id IN (
        SELECT author_id FROM merge_requests WHERE id = ${mergeRequestId}
        UNION SELECT user_id FROM assignees
          WHERE subject_type = 'merge_request' AND subject_id = ${mergeRequestId}
        UNION SELECT user_id FROM merge_request_reviewers WHERE merge_request_id = ${mergeRequestId}
        UNION SELECT user_id FROM mentions
          WHERE subject_type = 'MergeRequest' AND subject_id = ${mergeRequestId}
        UNION SELECT author_id FROM notes
          WHERE noteable_type = 'MergeRequest' AND noteable_id = ${mergeRequestId} AND system = 0 AND internal = 0)`,
    )
    .orderBy('users.id')
    .execute()
}

/** The user's name and the address that their commits carry. */
export function findCommitter(db: Db, userId: number) {
  return db
    .selectFrom('users')
    .select(['id', 'username', 'name', 'email', 'commit_email'])
    .where('id', '=', userId)
    .executeTakeFirst()
}

/** Whether a user has a part in a merge request that subscribes them to it. */
export async function isParticipant(
  db: Db,
  mergeRequestId: number,
  userId: number,
): Promise<boolean> {
  return (await listParticipants(db, mergeRequestId)).some((user) => user.id === userId)
}

export async function listAssigneeIds(db: Db, mergeRequestId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('assignees')
    .select('user_id')
    .where('subject_type', '=', 'merge_request')
    .where('subject_id', '=', mergeRequestId)
    .orderBy('created_at')
    .execute()
  return rows.map((row) => row.user_id)
}

/** Users by id (all digits) or by name, with or without `@`. */
export async function listUserIdsByName(db: Db, names: readonly string[]): Promise<number[]> {
  if (names.length === 0) return []
  const plain = names.map((name) => name.replace(/^@/, ''))
  const ids = plain.filter((name) => /^\d{1,15}$/.test(name)).map(Number)
  const rows = await db
    .selectFrom('users')
    .select('id')
    .where((is) => is.or([is('username', 'in', plain), is('id', 'in', ids)]))
    .execute()
  return rows.map((row) => row.id)
}
