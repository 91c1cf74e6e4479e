import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import {
  findNextForResource,
  isResourceTaken,
  type JobRow,
  listCurrentJobs,
  listParts,
  needsByJob,
  updateJob,
} from './job-queries.ts'
import { type NextState, nextStates } from './next-states.ts'
import { findPipeline, type PipelineRow } from './queries.ts'
import { settlePipeline } from './settle.ts'
import { bridgeJob, delayedJob } from './task-names.ts'

/**
 * Lets the jobs of a pipeline go on as far as those before them allow, and makes the pipeline's status follow. To be
 * called in the transaction that changed a job.
 */
export async function processPipeline(ctx: Ctx, pipelineId: number): Promise<void> {
  const pipeline = await findPipeline(ctx.db, pipelineId)
  if (!pipeline) return
  const jobs = await listCurrentJobs(ctx.db, pipelineId)
  const needs = await needsByJob(ctx.db, pipelineId)
  const next = nextStates(
    jobs.map((job) => ({
      ...job,
      needs: job.uses_needs === 1 ? (needs.get(job.id) ?? []) : undefined,
    })),
  )
  for (const job of jobs) {
    const state = next.get(job.id)
    if (state !== undefined) await enterState(ctx, job, state)
  }
  const groups = new Set(jobs.map((job) => job.resource_group).filter((group) => group !== null))
  for (const group of groups) await giveResource(ctx, pipeline, group)
  await settlePipeline(ctx, pipeline, await listParts(ctx.db, pipelineId))
}

async function enterState(ctx: Ctx, job: JobRow, state: NextState): Promise<void> {
  const now = ctx.now()
  if (state === 'pending') return await enqueueJob(ctx, job)
  if (state !== 'scheduled') return await updateJob(ctx.db, job.id, { status: state }, now)
  const at = later(now, (job.start_in ?? 0) * 1000)
  await updateJob(ctx.db, job.id, { status: 'scheduled', scheduled_at: at }, now)
  await ctx.work.enqueue(ctx.db, delayedJob, { job_id: job.id }, { runAt: at })
}

/** Puts a job where runners find it, or in front of the resource that another job has. */
export async function enqueueJob(
  ctx: Ctx,
  job: Pick<JobRow, 'id' | 'kind' | 'resource_group'>,
): Promise<void> {
  const now = ctx.now()
  const values =
    job.resource_group === null
      ? { status: 'pending' as const, queued_at: now }
      : { status: 'waiting_for_resource' as const }
  await updateJob(ctx.db, job.id, { ...values, scheduled_at: null }, now)
  if (job.kind === 'bridge') await ctx.work.enqueue(ctx.db, bridgeJob, { job_id: job.id })
}

/** The oldest job that waits for a free resource gets it, in whatever pipeline it is. */
async function giveResource(ctx: Ctx, pipeline: PipelineRow, group: string): Promise<void> {
  if (await isResourceTaken(ctx.db, pipeline.project_id, group)) return
  const next = await findNextForResource(ctx.db, pipeline.project_id, group)
  if (!next) return
  const now = ctx.now()
  await updateJob(ctx.db, next.id, { status: 'pending', queued_at: now }, now)
  if (next.pipeline_id === pipeline.id) return
  const other = await findPipeline(ctx.db, next.pipeline_id)
  if (other) await settlePipeline(ctx, other, await listParts(ctx.db, other.id))
}
