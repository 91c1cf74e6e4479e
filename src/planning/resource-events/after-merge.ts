import type { Ctx } from '../../ctx.ts'
import { repoint } from '../../store/repoint.ts'
import type { MergedPlan } from '../effects.ts'

/** What happened with labels that became another one. */
export function keepLabelEvents(ctx: Ctx, { fromIds, toId }: MergedPlan): Promise<void> {
  return repoint(ctx.db, 'resource_events', 'label_id', fromIds, toId)
}

/** What happened with milestones that became another one. */
export function keepMilestoneEvents(ctx: Ctx, { fromIds, toId }: MergedPlan): Promise<void> {
  return repoint(ctx.db, 'resource_events', 'milestone_id', fromIds, toId)
}
