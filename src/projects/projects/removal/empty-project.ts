import { runEffects } from '../../../base/effects.ts'
import type { Ctx } from '../../../ctx.ts'
import { deleteProjectRow } from '../queries.ts'
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

/** Removes the rows of a hidden project, and nothing on the disk. */
export async function deleteHidden(ctx: Ctx, id: number, signal: AbortSignal): Promise<void> {
  await emptyProject(ctx, id, signal)
  await deleteProjectRow(ctx.db, id)
}

/**
 * Removes a hidden project with its repositories: these first, so that a crash leaves the row to try again. Only for
 * whoever knows that they are this project's.
 */
export async function eraseProject(ctx: Ctx, id: number, signal: AbortSignal): Promise<void> {
  await ctx.git.remove(id)
  await runEffects(ctx, ctx.effects.projectErased, { projectId: id })
  await deleteHidden(ctx, id, signal)
}
