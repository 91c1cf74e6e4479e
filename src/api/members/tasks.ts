import { z } from 'zod'
import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { task } from '../../work/task.ts'
import { deleteExpiredLinks } from './link-queries.ts'
import { deleteExpiredMembers } from './queries.ts'

/** Every day: removes memberships, invitations and shares that have ended; they have not counted since midnight. */
export const removeExpiredMembers = task({
  name: 'members.remove_expired',
  payload: z.object({}),
  handler: (ctx: Ctx) =>
    inTransaction(ctx, async ({ db }) => {
      const today = dayOf(ctx.now())
      await deleteExpiredMembers(db, today)
      await deleteExpiredLinks(db, today)
    }),
})
