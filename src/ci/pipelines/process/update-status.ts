import { userOf } from '../../../access/actor.ts'
import { runEffects } from '../../../base/effects.ts'
import type { Ctx } from '../../../ctx.ts'
import { nextIid } from '../../../store/iid.ts'
import type { PipelineStatus } from '../../../store/schema/commits.ts'
import { listParts } from '../job-queries.ts'
import {
  findNewestPipeline,
  findSource,
  insertPipeline,
  type PipelineRow,
  updatePipeline,
} from '../queries.ts'
import { compositeStatus } from './composite-status.ts'
import { finishedDownstream } from './task-names.ts'

/** The newest pipeline of a commit, of one ref or id when given; for those who report statuses. */
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

/** States that a pipeline does not leave by itself. */
export const FINISHED: readonly PipelineStatus[] = ['success', 'failed', 'canceled', 'skipped']
const NOT_STARTED: readonly PipelineStatus[] = [
  'created',
  'waiting_for_resource',
  'preparing',
  'pending',
  'skipped',
  'manual',
  'scheduled',
]

/** Makes a pipeline's status follow from the jobs and reported statuses inside it, and notifies who waits for its end. */
export async function recomputeStatus(ctx: Ctx, pipeline: PipelineRow): Promise<void> {
  const status = compositeStatus(await listParts(ctx.db, pipeline.id))
  const ended = FINISHED.includes(status)
  const state = {
    status,
    started_at: pipeline.started_at ?? (NOT_STARTED.includes(status) ? null : ctx.now()),
    finished_at: ended
      ? ((pipeline.status === status ? pipeline.finished_at : null) ?? ctx.now())
      : null,
  }
  const isSame =
    status === pipeline.status &&
    state.started_at === pipeline.started_at &&
    state.finished_at === pipeline.finished_at
  // Looked at again is not changed.
  if (!isSame) await updatePipeline(ctx.db, pipeline.id, state, ctx.now())
  const { id, project_id: projectId } = pipeline
  await runEffects(ctx, ctx.effects.pipelineChanged, { id, projectId })
  if (!ended || pipeline.status === status) return
  await runEffects(ctx, ctx.effects.pipelineEnded, { id, status })
  const source = await findSource(ctx.db, pipeline.id)
  if (source?.depends !== 1) return
  await ctx.work.enqueue(ctx.db, finishedDownstream, { pipeline_id: pipeline.id })
}
