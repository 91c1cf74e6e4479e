import { z } from 'zod'
import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import { cacheBytes, deleteEntries, listLeastUsed } from './entry-queries.ts'

const AT_ONCE = 1000
/** Part of the room that is full afterwards, so that not every file has to make room for itself. */
const FILLED = 0.9

/** The bytes that all virtual registries may keep together; without a limit where the setting is 0. */
export function roomOf({ config }: Pick<Ctx, 'config'>): number {
  return config.virtualRegistryCache || Number.POSITIVE_INFINITY
}

/**
 * Forgets what was used longest ago of what all virtual registries have fetched, until it is within its room. The bytes go
 * with all others that nothing names any more.
 */
export const fitVirtualCaches = task({
  name: 'packages.fit_virtual_caches',
  payload: z.object({}),
  lane: 'slow',
  async handler(ctx: Ctx, _payload, signal) {
    const room = roomOf(ctx)
    let bytes = await cacheBytes(ctx.db)
    if (bytes <= room) return
    while (bytes > room * FILLED) {
      signal.throwIfAborted()
      const ids: number[] = []
      for (const row of await listLeastUsed(ctx.db, AT_ONCE)) {
        if (bytes <= room * FILLED) break
        ids.push(row.id)
        bytes -= row.size
      }
      if (ids.length === 0) return
      await deleteEntries(ctx.db, ids)
    }
  },
})
