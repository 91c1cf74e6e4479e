import { z } from 'zod'
import { task } from '../../background/task.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { deleteOldEvents } from './queries.ts'

/** The feed is kept for three years (docs/contract/D §1.28). */
const keptMs = 3 * 365 * 86_400_000
/** Others wait for their turn to write while one batch is removed. */
const BATCH = 5000

/** Every day: removes what happened longer ago than the feed is kept. */
export const forgetEvents = task({
  name: 'events.forget',
  payload: z.object({}),
  async handler(ctx: Ctx, _, signal) {
    const before = later(ctx.now(), -keptMs)
    while ((await deleteOldEvents(ctx.db, before, BATCH)) === BATCH) signal.throwIfAborted()
  },
})
