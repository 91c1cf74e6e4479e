import type { Ctx } from '../../ctx.ts'
import { clearRulesOverwritten, updateMergeRequest } from './queries.ts'

/** Notes that a merge request has approval rules of its own, in the caller's transaction. */
export async function markOverwritten(ctx: Ctx, id: number): Promise<void> {
  await updateMergeRequest(ctx.db, id, { rules_overwritten: true })
}

/** Notes that no open merge request of a project has any; gives those that had. */
export function clearOverwritten(ctx: Ctx, projectId: number): Promise<number[]> {
  return clearRulesOverwritten(ctx.db, projectId)
}
