import { userOf } from '../../../access/actor.ts'
import type { Project } from '../../../access/subjects.ts'
import { runEffects } from '../../../base/effects.ts'
import type { Ctx } from '../../../ctx.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { updateMergeRequest } from '../queries.ts'
import { noteChange } from '../record.ts'
import type { MergeRequestRow } from '../row.ts'
import type { MergeOptions } from './merge-options.ts'

/** Has a merge request merged as soon as nothing stands in its way, for the head that it has now. */
export async function setAutoMerge(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  options: MergeOptions,
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const { sha: _, ...stored } = options
    await updateMergeRequest(ctx.db, row.id, {
      auto_merge_sha: row.head_sha,
      auto_merge_options: JSON.stringify(stored),
      merge_user_id: userOf(ctx.actor)?.id ?? null,
    })
    const text = 'enabled an automatic merge when all merge checks for this merge request pass'
    await noteChange(ctx, project, row, 'merge', text)
    await runEffects(ctx, ctx.effects.autoMergeSet, { project, id: row.id })
  })
}
