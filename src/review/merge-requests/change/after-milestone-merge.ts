import type { Ctx } from '../../../ctx.ts'
import type { MergedPlan } from '../../../planning/effects.ts'
import { repoint } from '../../../store/repoint.ts'

/** The merge requests of milestones that became another one. */
export function keepMilestoneRequests(ctx: Ctx, { fromIds, toId }: MergedPlan): Promise<void> {
  return repoint(ctx.db, 'merge_requests', 'milestone_id', fromIds, toId)
}
