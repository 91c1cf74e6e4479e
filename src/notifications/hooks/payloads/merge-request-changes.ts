import type { Ctx } from '../../../ctx.ts'
import { assigneesBySubject } from '../../../planning/assignees/verbs.ts'
import { labelsBySubject } from '../../../planning/labels/set-labels.ts'
import { sumTime } from '../../../planning/time-tracking/queries.ts'
import { listReviewers } from '../../../review/merge-requests/people/queries.ts'
import type { MergeRequestRow } from '../../../review/merge-requests/row.ts'
import { hookLabel } from './issue-hook.ts'
import { hookUser } from './payload-parts.ts'

const stateIds = { opened: 1, closed: 2, merged: 3, locked: 4 } as const

/** The fields of a merge request that hooks compare. */
export async function readCompared(
  ctx: Ctx,
  row: MergeRequestRow,
): Promise<Readonly<Record<string, unknown>>> {
  const [labels, assignees, reviewers] = await Promise.all([
    labelsBySubject(ctx, 'merge_request', [row.id]),
    assigneesBySubject(ctx, 'merge_request', [row.id]),
    listReviewers(ctx.db, [row.id]),
  ])
  const flag = (value: 0 | 1 | null) => (value === null ? null : value === 1)
  return {
    title: row.title,
    description: row.description,
    draft: row.draft === 1,
    state_id: stateIds[row.state],
    target_branch: row.target_branch,
    milestone_id: row.milestone_id,
    discussion_locked: flag(row.discussion_locked),
    squash: row.squash === 1,
    allow_collaboration: row.allow_collaboration === 1,
    force_remove_source_branch: flag(row.force_remove_source_branch),
    merge_after: row.merge_after,
    time_estimate: row.time_estimate,
    total_time_spent: await sumTime(ctx.db, 'merge_request', row.id),
    merge_user_id: row.merge_user_id,
    merge_commit_sha: row.merge_commit_sha,
    updated_at: row.updated_at,
    labels: (labels.get(row.id) ?? []).map(hookLabel),
    assignees: (assignees.get(row.id) ?? []).map((user) => hookUser(ctx, user)),
    reviewers: reviewers.map((user) => hookUser(ctx, user)),
  }
}
