import type { Ctx } from '../../../ctx.ts'
import { forgetReminders, remind } from '../../../discussions/todos/add.ts'
import { listOpenWithHead } from '../pipeline-queries.ts'
import { findById } from '../queries.ts'
import { todoTarget } from '../record.ts'
import type { MergeRequestRow } from '../row.ts'

/** Who waits for a merge: its author, and who set it to be merged by itself. */
function peopleOf(row: MergeRequestRow): number[] {
  const setBy = row.auto_merge_sha === null ? null : row.merge_user_id
  return [row.author_id, setBy].filter((id) => id !== null)
}

/** Reminds them of a conflict that came up, or forgets it when it is gone. */
export async function remindOfConflict(
  ctx: Ctx,
  row: MergeRequestRow,
  conflicts: boolean,
): Promise<void> {
  const target = todoTarget(row)
  if (conflicts) await remind(ctx, target, 'unmergeable', peopleOf(row))
  else await forgetReminders(ctx, target, 'unmergeable')
}

/** Reminds them when the pipeline of the head fails, until one succeeds. */
export async function remindOfPipeline(
  ctx: Ctx,
  { id, status }: { readonly id: number; readonly status: string },
): Promise<void> {
  if (status !== 'failed' && status !== 'success') return
  for (const requestId of await listOpenWithHead(ctx.db, id)) {
    const row = await findById(ctx.db, requestId)
    if (!row) continue
    const target = todoTarget(row)
    if (status === 'failed') await remind(ctx, target, 'build_failed', peopleOf(row))
    else await forgetReminders(ctx, target, 'build_failed')
  }
}
