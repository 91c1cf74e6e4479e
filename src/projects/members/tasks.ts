import { z } from 'zod'
import { task } from '../../background/task.ts'
import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { deleteExpiredLinks } from './link-queries.ts'
import { deleteExpiredMembers } from './queries.ts'
import { recordEnded } from './record.ts'

/** Every day: removes memberships, invitations and shares that have ended; they have not counted since midnight. */
export const removeExpiredMembers = task({
  name: 'members.remove_expired',
  payload: z.object({}),
  handler: (ctx: Ctx) =>
    inTransaction(ctx, async (ctx) => {
      const today = dayOf(ctx.now())
      await recordEnded(ctx, await deleteExpiredMembers(ctx.db, today), 'member_expired')
      await deleteExpiredLinks(ctx.db, today)
    }),
})
