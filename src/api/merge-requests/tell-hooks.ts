import { userOf } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { wantsHooks } from '../hooks/fire.ts'
import { hookJob } from './jobs.ts'
import type { MergeRequestRow } from './row.ts'

/** What happened, in the words of the merge request hook (spec D §1.25). */
export type HookAction =
  | 'open'
  | 'close'
  | 'reopen'
  | 'update'
  | 'approved'
  | 'unapproved'
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
  oldrev: string | null = null,
): Promise<void> {
  if (!(await wantsHooks(ctx, project, 'merge_request'))) return
  const user_id = userOf(ctx.actor)?.id ?? null
  await ctx.work.enqueue(ctx.db, hookJob, { id: row.id, user_id, action, oldrev })
}
