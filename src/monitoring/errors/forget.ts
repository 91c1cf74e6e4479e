import { z } from 'zod'
import { task } from '../../background/task.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { deleteOldErrors, deleteOldEvents, deleteOldHours } from './queries.ts'

/** How long events are kept (docs/contract/C-resolved §2.3). */
const RETENTION_MS = 90 * 86_400_000
const HOUR_MS = 3_600_000
/** Rows of one statement, so that others get to write in between. */
const AT_ONCE = 200

/** Removes events and errors whose time is over. */
export const forgetErrors = task({
  name: 'monitoring.forget_errors',
  payload: z.object({}),
  lane: 'slow',
  async handler(ctx: Ctx, _payload, signal) {
    const before = later(ctx.now(), -RETENTION_MS)
    while (!signal.aborted && (await deleteOldErrors(ctx.db, before, AT_ONCE)));
    while (!signal.aborted && (await deleteOldEvents(ctx.db, before, AT_ONCE)));
    await deleteOldHours(ctx.db, Math.floor(Date.parse(before) / HOUR_MS))
  },
})
