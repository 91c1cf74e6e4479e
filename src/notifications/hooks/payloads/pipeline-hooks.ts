import { z } from 'zod'
import { actAs } from '../../../access/act-as.ts'
import type { Project } from '../../../access/subjects.ts'
import { task } from '../../../background/task.ts'
import { type JobRow, listCurrentJobs } from '../../../ci/pipelines/job-queries.ts'
import { findPipeline, type PipelineRow } from '../../../ci/pipelines/queries.ts'
import type { Ctx } from '../../../ctx.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { mailPipelineEnd } from '../../notifications/pipeline-mail.ts'
import { fireHooks, wantsHooks } from '../fire.ts'
import { countRetries, findHookPlace, listTold, saveTold } from './notified-queries.ts'
import { findHookProject } from './payload-parts.ts'
import { jobPayload, pipelinePayload } from './pipeline-payload.ts'

const endedPipeline = {
  name: 'pipelines.tell_end',
  payload: z.object({ pipeline_id: z.int(), status: z.string() }),
}

const changedPipeline = {
  name: 'pipelines.tell_changes',
  payload: z.object({ pipeline_id: z.int() }),
}

const ENDED: readonly string[] = ['success', 'failed', 'canceled', 'skipped']

/**
 * Tells hooks which statuses a pipeline and its jobs have now, as far as they have not heard of them; the end of a
 * pipeline is told by a task of its own. What changes twice before this runs is told as it is then.
 */
export const tellPipelineChanges = task({
  ...changedPipeline,
  async handler(given: Ctx, { pipeline_id }) {
    const pipeline = await findPipeline(given.db, pipeline_id)
    if (!pipeline) return
    const ctx = await actAs(given, pipeline.user_id)
    const project = await findHookProject(ctx, pipeline.project_id)
    if (!project) return
    const told = new Map(
      (await listTold(ctx.db, pipeline.id)).map((one) => [`${one.kind} ${one.id}`, one.status]),
    )
    if (told.get(`pipeline ${pipeline.id}`) !== pipeline.status)
      await tellPipeline(ctx, project, pipeline)
    for (const job of await listCurrentJobs(ctx.db, pipeline.id)) {
      if (told.get(`job ${job.id}`) !== job.status) await tellJob(ctx, project, pipeline, job)
    }
  },
})

async function tellPipeline(ctx: Ctx, project: Project, pipeline: PipelineRow): Promise<void> {
  const { id, status } = pipeline
  const payload = ENDED.includes(status) ? undefined : await pipelinePayload(ctx, project, pipeline)
  await inTransaction(ctx, async (ctx) => {
    await saveTold(ctx.db, { kind: 'pipeline', id, pipeline_id: id, status })
    if (payload) await fireHooks(ctx, project, 'pipeline', () => payload)
  })
}

async function tellJob(
  ctx: Ctx,
  project: Project,
  pipeline: PipelineRow,
  job: JobRow,
): Promise<void> {
  const { id, status } = job
  const retries = await countRetries(ctx.db, pipeline.id, job.name)
  const payload = await jobPayload(ctx, project, { pipeline, job, retries })
  await inTransaction(ctx, async (ctx) => {
    await saveTold(ctx.db, { kind: 'job', id, pipeline_id: pipeline.id, status })
    await fireHooks(ctx, project, 'job', () => payload)
  })
}

/** Lets hooks that ask hear what changed, once for all changes that wait to be told. */
export async function enqueuePipelineHooks(
  ctx: Ctx,
  { id, projectId }: { readonly id: number; readonly projectId: number },
): Promise<void> {
  const place = await findHookPlace(ctx.db, projectId)
  if (!place) return
  const wanted = (await wantsHooks(ctx, place, 'job')) || (await wantsHooks(ctx, place, 'pipeline'))
  if (!wanted) return
  const uniqueKey = String(id)
  await ctx.work.enqueue(ctx.db, changedPipeline, { pipeline_id: id }, { uniqueKey })
}

/** Lets hooks and people hear that a pipeline has ended, by a task. */
export async function enqueuePipelineEnd(
  ctx: Ctx,
  { id, status }: { readonly id: number; readonly status: string },
): Promise<void> {
  await ctx.work.enqueue(ctx.db, endedPipeline, { pipeline_id: id, status })
}

/** Tells hooks and people that a pipeline has ended. */
export const tellPipelineEnd = task({
  ...endedPipeline,
  async handler(ctx: Ctx, { pipeline_id, status }) {
    const pipeline = await findPipeline(ctx.db, pipeline_id)
    // It runs again: its next end will be told.
    if (pipeline?.status !== status) return
    const project = await findHookProject(ctx, pipeline.project_id)
    if (!project) return
    const payload = await pipelinePayload(ctx, project, pipeline)
    await inTransaction(ctx, async (ctx) => {
      await fireHooks(ctx, project, 'pipeline', () => payload)
      await mailPipelineEnd(ctx, project, pipeline)
    })
  },
})
