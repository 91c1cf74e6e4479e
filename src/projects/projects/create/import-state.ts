import type { ProjectRow } from '../../../access/find-queries.ts'
import { notFound } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { findProjectRow } from '../list/queries.ts'
import { updateProjectRow } from '../queries.ts'

/** The project of a task, or 404 when it is gone. */
export async function readRow(ctx: Ctx, projectId: number): Promise<ProjectRow> {
  const row = await findProjectRow(ctx.db, projectId)
  if (!row || row.pending_delete === 1) throw notFound('Project')
  return row
}

/** Gives an imported project the branch that the repository it came from begins with. */
export async function saveImportedBranch(
  ctx: Ctx,
  projectId: number,
  branch: string,
): Promise<void> {
  await updateProjectRow(ctx.db, projectId, { default_branch: branch })
}

/** Notes that an import, or the making of a fork, was given up for a reason of the server's; others stay as they ended. */
export async function giveUpImport(ctx: Ctx, projectId: number, reason: string): Promise<void> {
  const row = await findProjectRow(ctx.db, projectId)
  if (row?.import_status !== 'scheduled' && row?.import_status !== 'started') return
  const error = `the server could not finish it: ${reason}`.slice(0, 1000)
  await saveImportState(ctx, projectId, 'failed', error)
}

/** Notes how far the import of a project is. */
export async function saveImportState(
  ctx: Ctx,
  projectId: number,
  status: 'started' | 'finished' | 'failed',
  error: string | null,
): Promise<void> {
  await updateProjectRow(ctx.db, projectId, { import_status: status, import_error: error })
}
