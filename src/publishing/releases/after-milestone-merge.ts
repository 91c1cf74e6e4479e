import type { Ctx } from '../../ctx.ts'
import type { MergedPlan } from '../../planning/effects.ts'
import { repoint } from '../../store/repoint.ts'

/** The releases of milestones that became another one. */
export function keepMilestoneReleases(ctx: Ctx, { fromIds, toId }: MergedPlan): Promise<void> {
  return repoint(ctx.db, 'release_milestones', 'milestone_id', fromIds, toId)
}
