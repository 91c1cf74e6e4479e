import type { Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import type { UserBasicRow } from '../../../identity/users/basic.ts'
import { assignable } from '../../../planning/assignees/verbs.ts'
import {
  deleteReviewers,
  forgetLostApprovals,
  insertReviewers,
  listReviewers,
  updateReviewerState,
} from '../people/queries.ts'

export interface ReviewerChange {
  readonly added: readonly UserBasicRow[]
  readonly removed: readonly UserBasicRow[]
}

/** Asks exactly these users for a review, in the caller's transaction; strangers are left out without an error. */
export async function setReviewers(
  ctx: Ctx,
  project: Project,
  mergeRequestId: number,
  userIds: readonly number[],
): Promise<ReviewerChange> {
  const before = await listReviewers(ctx.db, [mergeRequestId])
  const after = await assignable(ctx, project, userIds)
  const ids = (users: readonly UserBasicRow[]) => users.map((user) => user.id)
  const added = after.filter((user) => !ids(before).includes(user.id))
  const removed = before.filter((user) => !ids(after).includes(user.id))
  await insertReviewers(ctx.db, mergeRequestId, ids(added), ctx.now())
  await deleteReviewers(ctx.db, mergeRequestId, ids(removed))
  return { added, removed }
}

/** Notes what somebody did with a merge request, if they were asked for a review. */
export function noteReview(
  ctx: Ctx,
  mergeRequestId: number,
  userId: number,
  state: 'approved' | 'unapproved' | 'review_started' | 'reviewed' | 'requested_changes',
): Promise<void> {
  return updateReviewerState(ctx.db, mergeRequestId, userId, state)
}

/** Shows reviewers whose approval was taken back from them as having approved no longer. */
export function noteLostApprovals(ctx: Ctx, mergeRequestId: number): Promise<void> {
  return forgetLostApprovals(ctx.db, mergeRequestId)
}
