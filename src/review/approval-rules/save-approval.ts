import type { Ctx } from '../../ctx.ts'
import { deleteApprovals, insertApproval } from './queries.ts'

/** Writes an approval down; false when the user gave one before. */
export function saveApproval(
  ctx: Ctx,
  approval: Parameters<typeof insertApproval>[1],
): ReturnType<typeof insertApproval> {
  return insertApproval(ctx.db, approval)
}

/** Takes approvals back, all or those of some users; gives how many. */
export function removeApprovals(
  ctx: Ctx,
  mergeRequestId: number,
  userIds?: readonly number[],
): Promise<number> {
  return deleteApprovals(ctx.db, mergeRequestId, userIds)
}
