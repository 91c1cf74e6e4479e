import { z } from 'zod'
import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import { deleteAssigneeBelow } from './queries.ts'

/** Takes somebody who has left off everything that they were responsible for (spec A-resolved §9 Delete). */
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
