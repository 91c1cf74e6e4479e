import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { hasFittingRunner, listOverdue, listWaiting } from './queries.ts'

/** Runners that asked within this time are there. */
const ONLINE_MS = 2 * 3_600_000

export const findStale = (ctx: Pick<Ctx, 'db'>, before: Parameters<typeof listOverdue>[1]) =>
  listOverdue(ctx.db, before)

export const findUnpicked = (ctx: Pick<Ctx, 'db'>, before: string) => listWaiting(ctx.db, before)

/** Whether a runner that asks for jobs could have this one. */
export async function fitsAnyRunner(ctx: Pick<Ctx, 'db' | 'now'>, jobId: number): Promise<boolean> {
  return await hasFittingRunner(ctx.db, jobId, later(ctx.now(), -ONLINE_MS))
}
