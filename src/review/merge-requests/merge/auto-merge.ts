import type { Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import { updateMergeRequest } from '../queries.ts'
import { noteChange } from '../record.ts'
import type { MergeRequestRow } from '../row.ts'

/** Stops an auto-merge that something has overtaken, with the reason, in the caller's transaction (docs/contract/D §1.10). */
export async function cancelAutoMerge(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  because?: string,
): Promise<boolean> {
  if (row.auto_merge_sha === null) return false
  await updateMergeRequest(ctx.db, row.id, {
    auto_merge_sha: null,
    auto_merge_options: null,
    merge_user_id: null,
  })
  const text =
    because === undefined
      ? 'canceled the automatic merge'
      : `aborted the automatic merge because ${because}`
  await noteChange(ctx, project, row, 'merge', text)
  return true
}
