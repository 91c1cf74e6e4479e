import type { Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import { GitError } from '../../../git/error.ts'
import { getMergeRequest, reload } from '../find.ts'
import type { MergeRequestRow } from '../row.ts'
import { refreshMergeRequest } from './refresh.ts'

/**
 * The merge request with its first diff: clients ask for it in the call after the one that opened the merge request,
 * which the task that prepares it may not have come to yet.
 */
export async function prepare(
  ctx: Ctx,
  row: MergeRequestRow,
  signal?: AbortSignal,
): Promise<MergeRequestRow> {
  if (row.state !== 'opened' || row.prepared_at !== null) return row
  try {
    await refreshMergeRequest(ctx, row.id, { userId: row.author_id, anew: false }, signal)
  } catch (error) {
    // The task tries again; until then it is shown as it is.
    if (!(error instanceof GitError)) throw error
    ctx.log.warn('merge request not prepared', { error, merge_request: row.id })
  }
  return await reload(ctx, row.id)
}

/** As `getMergeRequest`, prepared. */
export async function getPrepared(
  ctx: Ctx,
  project: Pick<Project, 'id'>,
  iid: number,
  signal?: AbortSignal,
): Promise<MergeRequestRow> {
  return await prepare(ctx, await getMergeRequest(ctx, project, iid), signal)
}
