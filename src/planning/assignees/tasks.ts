import { z } from 'zod'
import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import type { MemberChange } from '../../projects/effects.ts'
import { deleteAssigneeBelow } from './queries.ts'

/** Takes somebody who has left off everything that they were responsible for (docs/contract/A-resolved §9 Delete). */
export const unassignMember = task({
  name: 'assignees.unassign_member',
  payload: z.object({
    source_type: z.enum(['group', 'project']),
    source_id: z.int(),
    user_id: z.int(),
  }),
  handler: (ctx: Ctx, { source_type: type, source_id: id, user_id: userId }) =>
    deleteAssigneeBelow(ctx.db, { type, id }, userId),
})

/** Has the same done for a member who was removed, by a task. */
export async function unassignRemoved(
  ctx: Ctx,
  { source, userId }: Pick<MemberChange, 'source' | 'userId'>,
): Promise<void> {
  const from = { source_type: source.type, source_id: source.id, user_id: userId }
  await ctx.work.enqueue(ctx.db, unassignMember, from)
}
