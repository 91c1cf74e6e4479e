import type { Ctx } from '../../ctx.ts'
import { repoint } from '../../store/repoint.ts'
import type { MergedPlan } from '../effects.ts'

/** The boards and lists of labels that became another one. */
export async function keepLabelBoards(ctx: Ctx, { fromIds, toId }: MergedPlan): Promise<void> {
  await repoint(ctx.db, 'board_labels', 'label_id', fromIds, toId)
  await repoint(ctx.db, 'board_lists', 'label_id', fromIds, toId)
}

/** The boards and lists of milestones that became another one. */
export async function keepMilestoneBoards(ctx: Ctx, { fromIds, toId }: MergedPlan): Promise<void> {
  await repoint(ctx.db, 'boards', 'milestone_id', fromIds, toId)
  await repoint(ctx.db, 'board_lists', 'milestone_id', fromIds, toId)
}
