import { z } from 'zod'
import { task } from '../../../background/task.ts'
import { badRequest } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { deleteMemberships } from '../hierarchy-queries.ts'
import { countOtherOwners } from '../queries.ts'
import { recordEnded } from '../record.ts'

/** Removes a user from a hierarchy; its last owner stays. */
export const removeBillable = task({
  name: 'members.remove_billable',
  payload: z.object({ group_id: z.int(), user_id: z.int() }),
  handler: (ctx: Ctx, { group_id: groupId, user_id: userId }) =>
    inTransaction(ctx, async (ctx) => {
      if ((await countOtherOwners(ctx.db, groupId, userId)) === 0) return
      await recordEnded(ctx, await deleteMemberships(ctx.db, groupId, userId), 'member_removed')
    }),
})

/** Queues the removal, or 400 for the last owner. */
export async function enqueueRemoval(ctx: Ctx, groupId: number, userId: number): Promise<void> {
  if ((await countOtherOwners(ctx.db, groupId, userId)) === 0) {
    throw badRequest('The last owner cannot be removed')
  }
  const payload = { group_id: groupId, user_id: userId }
  await ctx.work.enqueue(ctx.db, removeBillable, payload)
}
