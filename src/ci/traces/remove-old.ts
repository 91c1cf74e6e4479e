import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { deleteOldTraces } from './queries.ts'

const AT_ONCE = 500

/** Removes logs that are older than the instance wants to keep them; the bytes go with the store's next cleaning. */
export async function removeOldTraces(ctx: Pick<Ctx, 'db' | 'now' | 'config'>): Promise<void> {
  const { jobLogRetention } = ctx.config
  if (jobLogRetention === 0) return
  const before = later(ctx.now(), -jobLogRetention)
  while ((await deleteOldTraces(ctx.db, before, AT_ONCE)) === AT_ONCE);
}
