import type { Ctx } from '../../ctx.ts'
import { repoint } from '../../store/repoint.ts'
import type { MergedPlan } from '../effects.ts'

/** The issues of milestones that became another one. */
export function keepMilestoneIssues(ctx: Ctx, { fromIds, toId }: MergedPlan): Promise<void> {
  return repoint(ctx.db, 'issues', 'milestone_id', fromIds, toId)
}
