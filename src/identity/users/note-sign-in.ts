import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { findUserRow, updateUserRow } from './queries.ts'

/** Remembers when a user signed in, and when before that. */
export async function noteSignIn(ctx: Pick<Ctx, 'db' | 'now'>, userId: number): Promise<void> {
  const user = await findUserRow(ctx.db, userId)
  const now = ctx.now()
  await updateUserRow(ctx.db, userId, {
    last_sign_in_at: user?.current_sign_in_at ?? now,
    current_sign_in_at: now,
    last_activity_on: dayOf(now),
  })
}
