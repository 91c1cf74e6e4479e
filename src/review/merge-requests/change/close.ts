import { userOf } from '../../../access/actor.ts'
import type { Project } from '../../../access/subjects.ts'
import { methodNotAllowed } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { recheckOf } from '../detailed-merge-status.ts'
import { refreshJob } from '../jobs.ts'
import { cancelAutoMerge } from '../merge/auto-merge.ts'
import { updateMergeRequest } from '../queries.ts'
import { feedChange, noteChange } from '../record.ts'
import type { MergeRequestRow } from '../row.ts'
import { editMergeRequest } from './edit.ts'

/** Closes an open merge request, in the caller's transaction. */
export async function closeMergeRequest(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
): Promise<void> {
  if (row.state === 'merged') throw methodNotAllowed()
  await editMergeRequest(ctx, project, row, 'close', (ctx) => close(ctx, project, row))
}

async function close(ctx: Ctx, project: Project, row: MergeRequestRow): Promise<void> {
  await cancelAutoMerge(ctx, project, row, 'the merge request was closed')
  await updateMergeRequest(ctx.db, row.id, {
    state: 'closed',
    closed_at: ctx.now(),
    closed_by_id: userOf(ctx.actor)?.id ?? null,
    updated_at: ctx.now(),
  })
  await noteChange(ctx, project, row, 'closed', 'closed')
  await feedChange(ctx, row, 'closed')
}

/** Opens a closed merge request again, in the caller's transaction. */
export async function reopenMergeRequest(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
): Promise<void> {
  await editMergeRequest(ctx, project, row, 'reopen', (ctx) => reopen(ctx, project, row))
}

async function reopen(ctx: Ctx, project: Project, row: MergeRequestRow): Promise<void> {
  await updateMergeRequest(ctx.db, row.id, {
    state: 'opened',
    closed_at: null,
    closed_by_id: null,
    merge_status: recheckOf(row.merge_status),
    updated_at: ctx.now(),
  })
  await noteChange(ctx, project, row, 'opened', 'reopened')
  await feedChange(ctx, row, 'reopened')
  await ctx.work.enqueue(ctx.db, refreshJob, { id: row.id, user_id: userOf(ctx.actor)?.id ?? null })
}
