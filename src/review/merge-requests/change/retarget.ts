import { userOf } from '../../../access/actor.ts'
import type { Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import { recheckOf } from '../detailed-merge-status.ts'
import { refreshJob } from '../jobs.ts'
import { cancelAutoMerge } from '../merge/auto-merge.ts'
import { updateMergeRequest } from '../queries.ts'
import { noteChange } from '../record.ts'
import type { MergeRequestRow } from '../row.ts'

/** Points a merge request at another branch, in the caller's transaction; its diff is computed anew. */
export async function retarget(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  target: string,
): Promise<void> {
  await updateMergeRequest(ctx.db, row.id, {
    target_branch: target,
    merge_status: recheckOf(row.merge_status),
    // Owners of files are those that the new target names: nobody merges before they are known.
    approvals_syncing: true,
  })
  const text = `changed target branch from \`${row.target_branch}\` to \`${target}\``
  await noteChange(ctx, project, row, 'branch', text)
  await cancelAutoMerge(ctx, project, row, 'the target branch was changed')
  const user_id = userOf(ctx.actor)?.id ?? null
  await ctx.work.enqueue(ctx.db, refreshJob, { id: row.id, user_id, anew: true })
}
