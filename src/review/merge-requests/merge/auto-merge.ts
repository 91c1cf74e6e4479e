import { userOf } from '../../../access/actor.ts'
import type { Project } from '../../../access/subjects.ts'
import { runEffects } from '../../../base/effects.ts'
import type { Ctx } from '../../../ctx.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { updateMergeRequest } from '../queries.ts'
import { noteChange } from '../record.ts'
import type { MergeRequestRow } from '../row.ts'

/** What the one who merges asked for; absent: what the merge request and the project say. */
export interface MergeOptions {
  readonly mergeMessage?: string | undefined
  readonly squashMessage?: string | undefined
  readonly squash?: boolean | undefined
  readonly removeSourceBranch?: boolean | undefined
  readonly sha?: string | undefined
}

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
    should_remove_source_branch: null,
  })
  const text =
    because === undefined
      ? 'canceled the automatic merge'
      : `aborted the automatic merge because ${because}`
  await noteChange(ctx, project, row, 'merge', text)
  return true
}

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
      should_remove_source_branch: options.removeSourceBranch ?? null,
      merge_user_id: userOf(ctx.actor)?.id ?? null,
    })
    const text = 'enabled an automatic merge when all merge checks for this merge request pass'
    await noteChange(ctx, project, row, 'merge', text)
    await runEffects(ctx, ctx.effects.autoMergeSet, { project, id: row.id })
  })
}
