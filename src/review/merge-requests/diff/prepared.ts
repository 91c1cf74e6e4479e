import type { Ctx } from '../../../ctx.ts'
import { GitError } from '../../../git/error.ts'
import { reload } from '../find.ts'
import { findLatestVersion, findMoverOf } from '../queries.ts'
import type { MergeRequestRow, VersionRow } from '../row.ts'
import { refreshMergeRequest } from './refresh.ts'

/**
 * The merge request with the diff of its newest head: clients ask for it in the call after the one that opened the merge
 * request or pushed to it, and the task that prepares it may not have run yet.
 */
export async function prepare(
  ctx: Ctx,
  row: MergeRequestRow,
  signal?: AbortSignal,
): Promise<MergeRequestRow> {
  if (row.state !== 'opened') return row
  if (row.prepared_at !== null && !(await isBehind(ctx, row))) return row
  try {
    const userId = await moverOf(ctx, row)
    await refreshMergeRequest(ctx, row.id, { userId, anew: false }, signal)
  } catch (error) {
    // The task tries again; until then it is shown as it is.
    if (!(error instanceof GitError)) throw error
    ctx.log.warn('merge request not prepared', { error, merge_request: row.id })
  }
  return await reload(ctx, row.id)
}

async function isBehind(ctx: Ctx, row: MergeRequestRow): Promise<boolean> {
  if (row.head_sha === null || row.source_branch_exists === 0) return false
  const version = await findLatestVersion(ctx.db, row.id)
  return version !== undefined && version.head_sha !== row.head_sha
}

/** Whoever moved the source branch to its head, to whom the new version is attributed; the author of a new request. */
async function moverOf(ctx: Ctx, row: MergeRequestRow): Promise<number | null> {
  if (row.prepared_at === null || row.source_project_id === null) return row.author_id
  const ref = `refs/heads/${row.source_branch}`
  return findMoverOf(ctx.db, row.source_project_id, ref, row.head_sha ?? '')
}

/** The newest diff of a merge request, prepared; undefined where there is none to make. */
export async function preparedVersion(
  ctx: Ctx,
  row: MergeRequestRow,
  signal?: AbortSignal,
): Promise<VersionRow | undefined> {
  const { id } = await prepare(ctx, row, signal)
  return await findLatestVersion(ctx.db, id)
}
