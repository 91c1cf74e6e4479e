import { later } from '../../../base/clock.ts'
import type { Ctx } from '../../../ctx.ts'
import { blockUnapproved, markBlocked } from '../../environments/approvals.ts'
import { type JobStateRow, listJobStates, needsByJob } from '../job-queries.ts'
import { findPipeline, type PipelineRow } from '../queries.ts'
import { findNextForResource, findProcessMode, isResourceTaken } from '../resource-queries.ts'
import { type NextState, nextStates } from './next-states.ts'
import { delayedJob } from './task-names.ts'
import { changeJob, changeJobs } from './transitions.ts'
import { recomputeStatus } from './update-status.ts'

/**
 * Lets the jobs of a pipeline go on as far as those before them allow, and makes the pipeline's status follow. To be
 * called in the transaction that changed a job.
 */
export async function processPipeline(ctx: Ctx, pipelineId: number): Promise<void> {
  const pipeline = await findPipeline(ctx.db, pipelineId)
  if (!pipeline) return
  const jobs = await listJobStates(ctx.db, pipelineId)
  await enterStates(ctx, jobs, await findNext(ctx, pipelineId, jobs))
  await giveResources(ctx, pipeline, jobs)
  await recomputeStatus(ctx, pipeline)
}

type PipelineKey = Pick<PipelineRow, 'id' | 'project_id'>

/** Gives what jobs of a pipeline had, or waited for, to whoever is next. */
export async function giveResources(
  ctx: Ctx,
  pipeline: PipelineKey,
  jobs: readonly Pick<JobStateRow, 'resource_group'>[],
): Promise<void> {
  const groups = new Set(jobs.flatMap((job) => job.resource_group ?? []))
  for (const group of groups) await giveResource(ctx, pipeline, group)
}

async function findNext(ctx: Ctx, pipelineId: number, jobs: readonly JobStateRow[]) {
  if (!jobs.some((job) => job.status === 'created')) return new Map<number, NextState>()
  const usesNeeds = jobs.some((job) => job.uses_needs === 1)
  const needs = usesNeeds ? await needsByJob(ctx.db, pipelineId) : new Map<number, string[]>()
  return nextStates(
    jobs.map((job) => ({
      ...job,
      needs: job.uses_needs === 1 ? (needs.get(job.id) ?? []) : undefined,
    })),
  )
}

async function enterStates(
  ctx: Ctx,
  jobs: readonly JobStateRow[],
  next: ReadonlyMap<number, NextState>,
): Promise<void> {
  if (next.size === 0) return
  const entering = (state: NextState) => jobs.filter((job) => next.get(job.id) === state)
  const ids = (rows: readonly JobStateRow[]) => rows.map((job) => job.id)
  await changeJobs(ctx, 'skip', ids(entering('skipped')))
  await changeJobs(ctx, 'actionize', ids(entering('manual')))
  for (const job of entering('scheduled')) await scheduleJob(ctx, job)
  await enqueueJobs(ctx, entering('pending'))
}

async function scheduleJob(ctx: Ctx, job: JobStateRow): Promise<void> {
  const at = later(ctx.now(), (job.start_in ?? 0) * 1000)
  await changeJob(ctx, 'schedule', job, { scheduled_at: at })
  await ctx.work.enqueue(ctx.db, delayedJob, { job_id: job.id }, { runAt: at })
}

/** Puts jobs where runners find them, or in front of the resource that another job has. */
export async function enqueueJobs(
  ctx: Ctx,
  jobs: readonly { readonly id: number; readonly resource_group: string | null }[],
): Promise<void> {
  const ids = (rows: typeof jobs) => rows.map((job) => job.id)
  const held = await blockUnapproved(ctx, ids(jobs))
  await holdJobs(ctx, [...held])
  const free = jobs.filter((job) => job.resource_group === null && !held.has(job.id))
  const bound = jobs.filter((job) => job.resource_group !== null && !held.has(job.id))
  await changeJobs(ctx, 'enqueue', ids(free))
  await changeJobs(ctx, 'wait_for_resource', ids(bound))
}

/** Jobs whose deployments wait for approvals wait for somebody, as manual ones do. */
async function holdJobs(ctx: Ctx, ids: readonly number[]): Promise<void> {
  await changeJobs(ctx, 'actionize', ids)
  await changeJobs(ctx, 'unschedule', ids)
  await markBlocked(ctx, ids)
}

/** The next job that waits for a free resource gets it, in whatever pipeline it is. */
async function giveResource(ctx: Ctx, pipeline: PipelineKey, group: string): Promise<void> {
  if (await isResourceTaken(ctx.db, pipeline.project_id, group)) return
  const mode = await findProcessMode(ctx.db, pipeline.project_id, group)
  const next = await findNextForResource(ctx.db, pipeline.project_id, group, mode)
  if (!next) return
  await changeJob(ctx, 'enqueue', next)
  if (next.pipeline_id === pipeline.id) return
  const other = await findPipeline(ctx.db, next.pipeline_id)
  if (other) await recomputeStatus(ctx, other)
}

/**
 * `workflow:auto_cancel:on_job_failure: all` ends what still runs when a job fails that must not; what somebody starts
 * later goes on.
 */
export async function cancelAfterFailure(ctx: Ctx, pipelineId: number): Promise<void> {
  const pipeline = await findPipeline(ctx.db, pipelineId)
  if (pipeline?.on_job_failure !== 'all') return
  await cancelJobs(ctx, await listJobStates(ctx.db, pipelineId))
}

/** Ends jobs that have not ended; running ones whose runner can, by and by. */
export async function cancelJobs(
  ctx: Ctx,
  jobs: readonly { readonly id: number; readonly status: string; readonly can_cancel: 0 | 1 }[],
): Promise<boolean> {
  const gently = jobs.filter((job) => job.status === 'running' && job.can_cancel === 1)
  const atOnce = jobs.filter((job) => !gently.includes(job))
  const begun = await changeJobs(
    ctx,
    'begin_cancel',
    gently.map((job) => job.id),
  )
  const ended = await changeJobs(
    ctx,
    'cancel',
    atOnce.map((job) => job.id),
  )
  return begun.length + ended.length > 0
}
