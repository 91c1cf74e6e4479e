import type { Ctx } from '../../../ctx.ts'
import { clearRulesOverwritten, updateMergeRequest } from '../queries.ts'

/** Notes that a merge request has approval rules of its own, in the caller's transaction. */
export async function markOverwritten(ctx: Ctx, { id }: { readonly id: number }): Promise<void> {
  await updateMergeRequest(ctx.db, id, { rules_overwritten: true })
}

/** Notes that no open merge request of a project has any. */
export async function clearOverwritten(
  ctx: Ctx,
  { projectId }: { readonly projectId: number },
): Promise<void> {
  await clearRulesOverwritten(ctx.db, projectId)
}
