import type { Ctx } from '../../ctx.ts'
import { clearOverwritten } from '../merge-requests/overwritten.ts'
import { deleteRequestRules } from './rule-queries.ts'

/** Open merge requests of a project go back to the project's rules, in the caller's transaction. */
export async function forgetRequestRules(ctx: Ctx, projectId: number): Promise<void> {
  await deleteRequestRules(ctx.db, await clearOverwritten(ctx, projectId))
}
