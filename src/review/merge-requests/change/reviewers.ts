import type { Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import { addTodos } from '../../../discussions/todos/add.ts'
import type { UserBasicRow } from '../../../identity/users/basic.ts'
import { assignable, setAssignees } from '../../../planning/assignees/verbs.ts'
import {
  deleteReviewers,
  forgetLostApprovals,
  insertReviewers,
  listReviewers,
  updateReviewerState,
} from '../people/queries.ts'
import { noteChange, peopleNote, todoTarget } from '../record.ts'
import type { MergeRequestRow } from '../row.ts'
import { assigneesOf, type CreateInput } from './body-params.ts'

interface PeopleChange {
  readonly added: readonly UserBasicRow[]
  readonly removed: readonly UserBasicRow[]
}

const idsOf = (users: readonly UserBasicRow[]) => users.map((user) => user.id)

/** Asks exactly these users for a review, in the caller's transaction; strangers are left out without an error. */
async function setReviewers(
  ctx: Ctx,
  project: Project,
  mergeRequestId: number,
  userIds: readonly number[],
): Promise<PeopleChange> {
  const before = await listReviewers(ctx.db, [mergeRequestId])
  const after = await assignable(ctx, project, userIds)
  const added = after.filter((user) => !idsOf(before).includes(user.id))
  const removed = before.filter((user) => !idsOf(after).includes(user.id))
  await insertReviewers(ctx.db, mergeRequestId, idsOf(added), ctx.now())
  await deleteReviewers(ctx.db, mergeRequestId, idsOf(removed))
  return { added, removed }
}

/** Sets the people that a request names and notifies them, in the caller's transaction; of changes with a system note each. */
export async function setPeople(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  input: Pick<CreateInput, 'assignee_id' | 'assignee_ids' | 'reviewer_ids'>,
  noted?: 'noted',
): Promise<void> {
  const note = async (action: string, change: PeopleChange, words: readonly [string, string]) => {
    const text = noted && peopleNote(change, words)
    if (text) await noteChange(ctx, project, row, action, text)
  }
  const assignees = assigneesOf(input)
  if (assignees) {
    const change = await setAssignees(ctx, project, 'merge_request', row.id, assignees)
    await note('assignee', change, ['assigned to', 'unassigned'])
    await addTodos(ctx, todoTarget(row), 'assigned', idsOf(change.added))
  }
  if (input.reviewer_ids) {
    const change = await setReviewers(ctx, project, row.id, input.reviewer_ids)
    await note('reviewer', change, ['requested review from', 'removed review request for'])
    await addTodos(ctx, todoTarget(row), 'review_requested', idsOf(change.added))
  }
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
