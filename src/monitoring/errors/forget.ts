import { z } from 'zod'
import { task } from '../../background/task.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { deleteOldErrors, deleteOldEvents, deleteOldHours } from './queries.ts'
import { deleteOldest, listProjectsAbove, readKeptBytes } from './size-queries.ts'
import { errorStatuses } from './words.ts'

/** How long events are kept (docs/contract/C-resolved §2.3). */
const RETENTION_MS = 90 * 86_400_000
const HOUR_MS = 3_600_000
/** Rows of one statement, so that others get to write in between. */
const AT_ONCE = 200
/** Errors of one statement that makes room: they may have large events. */
const LARGE_AT_ONCE = 20
/** A project that keeps more than this part of what it may forgets some, until it keeps no more than that part. */
const FULL = 0.9
const ROOMY = 0.8
/** Which errors go first. */
const FORGOTTEN = ['resolved', 'ignored', 'unresolved'] as const

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

/** Makes room in projects that keep nearly as much as they may. */
export const forgetSurplusErrors = task({
  name: 'monitoring.forget_surplus_errors',
  payload: z.object({}),
  lane: 'slow',
  async handler(ctx: Ctx, _payload, signal) {
    const most = ctx.config.maxProjectErrors
    if (most === 0) return
    for (const projectId of await listProjectsAbove(ctx.db, most * FULL)) {
      await makeRoom(ctx, projectId, most * ROOMY, signal)
    }
  },
})

/** Forgets errors of a project, those that were seen longest ago, until no more than so many bytes are kept. */
async function makeRoom(ctx: Ctx, projectId: number, bytes: number, signal: AbortSignal) {
  for (const status of FORGOTTEN.map((word) => errorStatuses.indexOf(word))) {
    while (!signal.aborted) {
      const excess = (await readKeptBytes(ctx.db, projectId)) - bytes
      const some = { bytes: excess, most: LARGE_AT_ONCE }
      if (excess <= 0 || !(await deleteOldest(ctx.db, projectId, status, some))) break
    }
  }
}
