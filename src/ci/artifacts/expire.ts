import type { Ctx } from '../../ctx.ts'
import { deleteExpired } from './queries.ts'

const AT_ONCE = 500

/** Removes artifacts whose time is over; those of the newest successful pipeline of a ref stay while projects want that. */
export async function removeExpired(ctx: Pick<Ctx, 'db' | 'now'>): Promise<void> {
  while ((await deleteExpired(ctx.db, ctx.now(), AT_ONCE)) === AT_ONCE);
}
