import { z } from 'zod'
import { actAs } from '../../../access/act-as.ts'
import type { Project } from '../../../access/subjects.ts'
import { findProjectWithRole } from '../../../access/subjects.ts'
import { task } from '../../../background/task.ts'
import { type JobRow, listCurrentJobs } from '../../../ci/pipelines/job-queries.ts'
import { findPipeline, type PipelineRow } from '../../../ci/pipelines/queries.ts'
import type { Ctx } from '../../../ctx.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { mailPipelineEnd } from '../../notifications/pipeline-mail.ts'
import { because, cause, causeOf, fireHooks, type HookPayload, wantsHooks } from '../fire.ts'
import {
  countRetries,
  findHookPlace,
  findNewestPipelineId,
  listNotified,
  saveNotified,
} from './notified-queries.ts'
import { jobPayload, pipelinePayload } from './pipeline-payload.ts'

const endedPipeline = {
  name: 'pipelines.notify_end',
  payload: z.object({ pipeline_id: z.int(), status: z.string(), ...cause }),
}

const changedPipeline = {
  name: 'pipelines.notify_changes',
  payload: z.object({ pipeline_id: z.int(), ...cause }),
}

const ENDED: readonly string[] = ['success', 'failed', 'canceled', 'skipped']

/**
 * Notifies hooks of the statuses that a pipeline and its jobs have now, unless they know them; the end of a pipeline has a
 * task of its own. What changes twice before this runs is sent once, as it is then.
 */
export const notifyOfPipelineChanges = task({
  ...changedPipeline,
  async handler(given: Ctx, { pipeline_id, ...chain }) {
    const pipeline = await findPipeline(given.db, pipeline_id)
    if (!pipeline) return
    const ctx = because(await actAs(given, pipeline.user_id), chain)
    const project = await findProjectWithRole(ctx, pipeline.project_id)
    if (!project) return
    const notified = new Map(
      (await listNotified(ctx.db, pipeline.id)).map((one) => [`${one.kind} ${one.id}`, one.status]),
    )
    if (notified.get(`pipeline ${pipeline.id}`) !== pipeline.status)
      await notifyOfPipeline(ctx, project, pipeline)
    for (const job of await listCurrentJobs(ctx.db, pipeline.id)) {
      if (notified.get(`job ${job.id}`) !== job.status)
        await notifyOfJob(ctx, project, pipeline, job)
    }
  },
})

async function notifyOfPipeline(ctx: Ctx, project: Project, pipeline: PipelineRow): Promise<void> {
  const { id, status } = pipeline
  const payload = ENDED.includes(status) ? undefined : await pipelinePayload(ctx, project, pipeline)
  await inTransaction(ctx, async (ctx) => {
    await saveNotified(ctx.db, { kind: 'pipeline', id, pipeline_id: id, status })
    if (payload) await fireHooks(ctx, project, 'pipeline', () => payload)
  })
}

async function notifyOfJob(
  ctx: Ctx,
  project: Project,
  pipeline: PipelineRow,
  job: JobRow,
): Promise<void> {
  const { id, status } = job
  const retries = await countRetries(ctx.db, pipeline.id, job.name)
  const payload = await jobPayload(ctx, project, { pipeline, job, retries })
  await inTransaction(ctx, async (ctx) => {
    await saveNotified(ctx.db, { kind: 'job', id, pipeline_id: pipeline.id, status })
    await fireHooks(ctx, project, 'job', () => payload)
  })
}

/** Enqueues the notification of hooks that ask for it, once for all changes that wait. */
export async function enqueuePipelineHooks(
  ctx: Ctx,
  { id, projectId }: { readonly id: number; readonly projectId: number },
): Promise<void> {
  const place = await findHookPlace(ctx.db, projectId)
  if (!place) return
  const wanted = (await wantsHooks(ctx, place, 'job')) || (await wantsHooks(ctx, place, 'pipeline'))
  if (!wanted) return
  const uniqueKey = String(id)
  const payload = { pipeline_id: id, ...causeOf(ctx) }
  await ctx.work.enqueue(ctx.db, changedPipeline, payload, { uniqueKey })
}

/** Enqueues the notification of hooks and people that a pipeline has ended. */
export async function enqueuePipelineEnd(
  ctx: Ctx,
  { id, status }: { readonly id: number; readonly status: string },
): Promise<void> {
  await ctx.work.enqueue(ctx.db, endedPipeline, { pipeline_id: id, status, ...causeOf(ctx) })
}

/** Notifies hooks and people that a pipeline has ended. */
export const notifyOfPipelineEnd = task({
  ...endedPipeline,
  async handler(given: Ctx, { pipeline_id, status, ...chain }) {
    const ctx = because(given, chain)
    const pipeline = await findPipeline(ctx.db, pipeline_id)
    // It runs again: its next end has a task of its own.
    if (pipeline?.status !== status) return
    const project = await findProjectWithRole(ctx, pipeline.project_id)
    if (!project) return
    const payload = await pipelinePayload(ctx, project, pipeline)
    await inTransaction(ctx, async (ctx) => {
      await fireHooks(ctx, project, 'pipeline', () => payload)
      await mailPipelineEnd(ctx, project, pipeline)
    })
  },
})

/** The newest pipeline as a payload, for trying a hook out. */
export async function newestPipelinePayload(
  ctx: Ctx,
  project: Project,
): Promise<HookPayload | undefined> {
  const pipeline = await newestPipeline(ctx, project)
  return pipeline && (await pipelinePayload(ctx, project, pipeline))
}

/** The same of a job of the newest pipeline. */
export async function newestJobPayload(
  ctx: Ctx,
  project: Project,
): Promise<HookPayload | undefined> {
  const pipeline = await newestPipeline(ctx, project)
  const [job] = pipeline ? await listCurrentJobs(ctx.db, pipeline.id) : []
  if (!pipeline || !job) return undefined
  const retries = await countRetries(ctx.db, pipeline.id, job.name)
  return await jobPayload(ctx, project, { pipeline, job, retries })
}

async function newestPipeline(ctx: Ctx, project: Project): Promise<PipelineRow | undefined> {
  const id = await findNewestPipelineId(ctx.db, project.id)
  return id === undefined ? undefined : await findPipeline(ctx.db, id)
}
