import type { Ctx } from '../../ctx.ts'
import { deleteExpired } from './queries.ts'

const AT_ONCE = 500

/** Removes artifacts whose time is over; those of the newest successful pipeline of a ref stay while that is wanted. */
export async function removeExpired(ctx: Pick<Ctx, 'db' | 'now' | 'settings'>): Promise<void> {
  const keepLatest = ctx.settings.get('keep_latest_artifact')
  while ((await deleteExpired(ctx.db, ctx.now(), AT_ONCE, keepLatest)) === AT_ONCE);
}
