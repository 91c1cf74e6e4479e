import type { Ctx } from '../../../ctx.ts'
import { deleteSome, listContentTables } from './queries.ts'

/** Rows of one statement: each may take some of other tables along. */
const AT_ONCE = 200

/**
 * Deletes what a hidden project holds, some at a time: all at once, with the row of a project of some years, would keep
 * everybody waiting for minutes (docs/decisions/0065).
 */
export async function emptyProject(ctx: Ctx, id: number, signal: AbortSignal): Promise<void> {
  for (const table of await listContentTables(ctx.db)) {
    while ((await deleteSome(ctx.db, table, id, AT_ONCE)) === AT_ONCE) signal.throwIfAborted()
  }
}
