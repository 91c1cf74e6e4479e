import { z } from 'zod'
import { task } from '../../../background/task.ts'
import { runEffects } from '../../../base/effects.ts'
import type { Ctx } from '../../../ctx.ts'
import { findUserRow, updateUserRow } from '../queries.ts'
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

/** Shuts a user out and leaves the removal to the task; in the caller's transaction. */
export async function removeUserLater(
  ctx: Ctx,
  user: { readonly id: number; readonly hard: boolean },
): Promise<void> {
  await updateUserRow(ctx.db, user.id, { state: 'blocked', updated_at: ctx.now() })
  await ctx.work.enqueue(ctx.db, removeUserTask, { user_id: user.id, hard: user.hard })
}
