import { z } from 'zod'
import { task } from '../../../background/task.ts'
import { runEffects } from '../../../base/effects.ts'
import type { Ctx } from '../../../ctx.ts'
import { findUserRow } from '../queries.ts'
import { removeUser } from './remove-user.ts'

/** Removes a user whose projects go along: those first, so that a second run finds what is left. */
export const removeUserTask = task({
  name: 'users.remove',
  payload: z.object({ user_id: z.int(), hard: z.boolean() }),
  lane: 'slow',
  async handler(ctx: Ctx, { user_id, hard }) {
    const user = await findUserRow(ctx.db, user_id)
    if (!user) return
    await runEffects(ctx, ctx.effects.userLeaving, { userId: user_id, hard })
    await removeUser(ctx, user, { hard })
  },
})
