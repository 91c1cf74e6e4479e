import type { Ctx } from '../../ctx.ts'
import { deleteExpired, type Ending, findPieceEnd } from './queries.ts'

/** Files of one statement, whether they go or stay: there may be very many that stay for good. */
const AT_ONCE = 500

/** Removes artifacts whose time is over; those of the newest successful pipeline of a ref stay while that is wanted. */
export async function removeExpired(ctx: Pick<Ctx, 'db' | 'now' | 'settings'>): Promise<void> {
  const keepLatest = ctx.settings.get('keep_latest_artifact')
  const now = ctx.now()
  let after: Ending = { expire_at: '', id: 0 }
  for (;;) {
    const end = await findPieceEnd(ctx.db, now, after, AT_ONCE)
    const last = end ?? { expire_at: now, id: Number.MAX_SAFE_INTEGER }
    await deleteExpired(ctx.db, after, last, keepLatest)
    if (!end) return
    after = end
  }
}
