import { userOf } from '../../access/actor.ts'
import type { Ctx } from '../../ctx.ts'
import { nextIid } from '../../store/iid.ts'
import type { PipelineStatus } from '../../store/schema/commits.ts'
import { compositeStatus } from './composite-status.ts'
import {
  findNewestPipeline,
  insertPipeline,
  type PipelineRow,
  updatePipelineStatus,
} from './queries.ts'

/** The newest pipeline of a commit, of one ref or id when told; for those who report statuses. */
export async function findPipelineOf(
  ctx: Pick<Ctx, 'db'>,
  projectId: number,
  sha: string,
  only: { readonly ref?: string | undefined; readonly id?: number | undefined },
): Promise<PipelineRow | undefined> {
  return await findNewestPipeline(ctx.db, projectId, sha, only)
}

/** A pipeline that holds what others report. To be called in the transaction that adds the first status. */
export async function createExternalPipeline(
  ctx: Ctx,
  projectId: number,
  at: { readonly sha: string; readonly ref: string; readonly tag: boolean },
): Promise<PipelineRow> {
  const pipeline = {
    ...at,
    iid: await nextIid(ctx.db, projectId, 'pipeline'),
    project_id: projectId,
    source: 'external',
    status: 'created' as const,
    user_id: userOf(ctx.actor)?.id ?? null,
  }
  return await insertPipeline(ctx.db, pipeline, ctx.now())
}

/** Makes a pipeline's status follow from those inside it. */
export async function settlePipeline(
  ctx: Ctx,
  pipeline: PipelineRow,
  parts: readonly { readonly status: PipelineStatus; readonly allow_failure: 0 | 1 }[],
): Promise<void> {
  const status = compositeStatus(parts)
  const started = status !== 'created' && status !== 'pending' && status !== 'skipped'
  const finished = ['success', 'failed', 'canceled', 'skipped'].includes(status)
  const state = {
    status,
    started_at: pipeline.started_at ?? (started ? ctx.now() : null),
    finished_at: finished ? ctx.now() : null,
  }
  await updatePipelineStatus(ctx.db, pipeline.id, state, ctx.now())
}
