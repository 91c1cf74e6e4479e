import { userOf } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { wantsHooks } from '../../notifications/hooks/fire.ts'
import { reload } from './find.ts'
import { changesBetween, type HookChanges, readCompared } from './hook-changes.ts'
import { hookJob } from './jobs.ts'
import type { MergeRequestRow } from './row.ts'

/** What happened, in the words of the merge request hook (spec D §1.25). */
export type HookAction =
  | 'open'
  | 'close'
  | 'reopen'
  | 'update'
  | 'approved'
  | 'approval'
  | 'unapproved'
  | 'unapproval'
  | 'merge'

/**
 * Has the hooks told of a change, in the caller's transaction. What they are told needs git, so a task tells them; nothing
 * is enqueued where nobody listens. `oldrev` is the head before, when commits changed.
 */
export async function tellHooks(
  ctx: Ctx,
  project: Project,
  row: Pick<MergeRequestRow, 'id'>,
  action: HookAction,
  more: { readonly oldrev?: string; readonly changes?: HookChanges } = {},
): Promise<void> {
  if (!(await wantsHooks(ctx, project, 'merge_request'))) return
  const user_id = userOf(ctx.actor)?.id ?? null
  const { oldrev = null, changes = {} } = more
  await ctx.work.enqueue(ctx.db, hookJob, { id: row.id, user_id, action, oldrev, changes })
}

/** Has the hooks told of what `change` does to a merge request, with the old and new values of its fields. */
export async function tellChange(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  action: HookAction,
  change: (ctx: Ctx) => Promise<void>,
): Promise<void> {
  const listening = await wantsHooks(ctx, project, 'merge_request')
  const before = listening ? await readCompared(ctx, row) : {}
  await change(ctx)
  if (!listening) return
  const after = await readCompared(ctx, await reload(ctx, row.id))
  await tellHooks(ctx, project, row, action, { changes: changesBetween(before, after) })
}
