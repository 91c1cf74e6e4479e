import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { STALE_MS } from './present.ts'
import { deleteSilentManagers } from './queries.ts'

/** Removes the machines of runners that made no contact for so long that they count as gone. */
export async function removeSilentMachines(ctx: Pick<Ctx, 'db' | 'now'>): Promise<void> {
  await deleteSilentManagers(ctx.db, later(ctx.now(), -STALE_MS))
}
