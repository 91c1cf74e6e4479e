import { findProjectById, type ProjectRow } from '../../../access/find-queries.ts'
import type { Ctx } from '../../../ctx.ts'
import type { RunnerType } from '../../../store/schema/ci-runners.ts'
import type { Db } from '../../../store/schema.ts'
import {
  findJobById,
  findJobStatus,
  findJobUser,
  findNamedJob,
  type JobRow,
  type JobUser,
  listJobsById,
  selectRunnerJobs,
  selectUpcoming,
  updateJob,
} from '../job-queries.ts'
import { findPipeline, type PipelineRow } from '../queries.ts'
import { processPipeline } from './process.ts'
import {
  findRunningJob,
  insertRunningJob,
  type RunningJob,
  updateRunningJob,
} from './transition-queries.ts'
import { changeJob } from './transitions.ts'

/** A job with what belongs to it. */
export interface LoadedJob {
  readonly job: JobRow
  readonly pipeline: PipelineRow
  readonly project: ProjectRow
  readonly user: JobUser | undefined
}

export async function loadJob(db: Db, id: number): Promise<LoadedJob | undefined> {
  const job = await findJobById(db, id)
  const pipeline = job && (await findPipeline(db, job.pipeline_id))
  const project = job && (await findProjectById(db, job.project_id))
  if (!job || !pipeline || !project) return undefined
  return { job, pipeline, project, user: await findJobUser(db, job.user_id) }
}

/** What is sealed as the values that the log of a job must not show. */
const MASKS_PURPOSE = 'ci_running_jobs.masks'

export interface JobGift {
  readonly runner_id: number
  readonly runner_type: RunnerType
  readonly manager_id: number
  readonly token_digest: Buffer
  readonly masks: readonly string[]
  /** Jobs elsewhere whose artifacts the job may download. */
  readonly foreign_sources: readonly number[]
  readonly ends_at: string
  readonly can_cancel: boolean
  readonly accepted: boolean
}

/** Gives a waiting job to a runner, with the token that lives as long as the job runs; false when another was faster. */
export async function giveJob(ctx: Ctx, job: JobRow, gift: JobGift): Promise<boolean> {
  const values = { runner_id: gift.runner_id, runner_manager_id: gift.manager_id }
  if (!(await changeJob(ctx, 'run', job, values))) return false
  await insertRunningJob(ctx.db, {
    job_id: job.id,
    project_id: job.project_id,
    runner_id: gift.runner_id,
    runner_type: gift.runner_type,
    user_id: job.user_id,
    token_digest: gift.token_digest,
    can_cancel: gift.can_cancel,
    accepted: gift.accepted,
    sealed_masks: ctx.vault.seal(JSON.stringify(gift.masks), MASKS_PURPOSE),
    foreign_sources: JSON.stringify(gift.foreign_sources),
    ends_at: gift.ends_at,
    contacted_at: ctx.now(),
  })
  await processPipeline(ctx, job.pipeline_id)
  return true
}

export type { RunningJob }

export async function findRunning(db: Db, jobId: number): Promise<RunningJob | undefined> {
  return await findRunningJob(db, jobId)
}

/** Notes a sign of life of the runner that has a job. */
export async function touchRunning(
  ctx: Pick<Ctx, 'db' | 'now'>,
  jobId: number,
  more: { readonly unproven_since?: string | null } = {},
): Promise<void> {
  await updateRunningJob(ctx.db, jobId, { contacted_at: ctx.now(), accepted: true, ...more })
}

/** The values that the log of a running job must not show. */
export function masksOf(ctx: Pick<Ctx, 'vault'>, running: RunningJob): readonly string[] {
  return JSON.parse(ctx.vault.open(running.sealed_masks, MASKS_PURPOSE)) as string[] // written by us
}

/** Whether a running job may download the artifacts of one elsewhere, because it needs them. */
export async function needsForeign(db: Db, jobId: number, sourceId: number): Promise<boolean> {
  const running = await findRunningJob(db, jobId)
  const sources = JSON.parse(running?.foreign_sources ?? '[]') as number[] // written by us
  return sources.includes(sourceId)
}

/** The status of a job, whether it runs or not. */
export async function getJobStatus(db: Db, jobId: number): Promise<string | undefined> {
  return await findJobStatus(db, jobId)
}

/** The job of a name in the pipeline of another. */
export async function jobBeside(db: Db, jobId: number, name: string): Promise<JobRow | undefined> {
  const job = await findJobById(db, jobId)
  return job && (await findNamedJob(db, job.pipeline_id, name))
}

/** Jobs of a project by their ids. */
export async function jobsOf(db: Db, projectId: number, ids: readonly number[]): Promise<JobRow[]> {
  return await listJobsById(db, projectId, ids)
}

/** The jobs that a runner had, as a query for one page of them. */
export const jobsOfRunner = selectRunnerJobs

/** The jobs that wait for a resource, as a query for one page of them. */
export const upcomingJobs = selectUpcoming

/** A job by its id alone. */
export async function jobOf(db: Db, jobId: number): Promise<JobRow | undefined> {
  return await findJobById(db, jobId)
}

/** Notes until when the artifacts of a job are kept. */
export async function expireJobArtifacts(
  ctx: Ctx,
  jobId: number,
  at: string | null,
): Promise<void> {
  await updateJob(ctx.db, jobId, { artifacts_expire_at: at }, ctx.now())
}

export async function setCoverage(ctx: Ctx, jobId: number, coverage: number): Promise<void> {
  await updateJob(ctx.db, jobId, { coverage }, ctx.now())
}

/** Notes that the log and the artifacts of a job were deleted. */
export async function markErased(ctx: Ctx, jobId: number): Promise<void> {
  await updateJob(ctx.db, jobId, { erased_at: ctx.now(), artifacts_expire_at: null }, ctx.now())
}

export type { JobRow }
