import { z } from 'zod'
import { task } from '../../../background/task.ts'
import { later } from '../../../base/clock.ts'
import type { Ctx } from '../../../ctx.ts'
import { deleteOldPushes } from './queries.ts'

const dayMs = 86_400_000
/** Long after every effect of a push has been tried for the last time. */
const keptDays = 30
const batch = 500

/**
 * Removes what was recorded of pushes that were finalized a month ago: the feed of events has what people see of them, and
 * a crash is completed by what came later. In small transactions, so that nobody waits.
 */
export async function forgetPushes(ctx: Ctx, signal?: AbortSignal): Promise<number> {
  const before = later(ctx.now(), -keptDays * dayMs)
  let count = 0
  for (;;) {
    signal?.throwIfAborted()
    const deleted = await deleteOldPushes(ctx.db, before, batch)
    count += deleted
    if (deleted < batch) return count
  }
}

export const forgetPushesTask = task({
  name: 'refs.forget_pushes',
  payload: z.object({}),
  async handler(ctx: Ctx, _payload, signal) {
    await forgetPushes(ctx, signal)
  },
})
