import { z } from 'zod'
import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import { deleteForwarded, listLeastUsed, sumForwarded } from './queries.ts'

const AT_ONCE = 500
/** Part of the room that is full afterwards, so that not every file has to make room for itself. */
const FILLED = 0.9

/**
 * Forgets what was used least recently of what was fetched from public registries, until it is within its room. The bytes
 * go with all others that nothing names any more.
 */
export const cleanForwardedFiles = task({
  name: 'packages.clean_forwarded_files',
  payload: z.object({}),
  lane: 'slow',
  async handler(ctx: Ctx, _payload, signal) {
    const room = ctx.config.packageCache
    let bytes = await sumForwarded(ctx.db)
    if (bytes <= room) return
    while (bytes > room * FILLED) {
      signal.throwIfAborted()
      const rows = await listLeastUsed(ctx.db, AT_ONCE)
      if (rows.length === 0) return
      const ids: number[] = []
      for (const row of rows) {
        if (bytes <= room * FILLED) break
        ids.push(row.id)
        bytes -= row.size
      }
      await deleteForwarded(ctx.db, ids)
    }
  },
})
