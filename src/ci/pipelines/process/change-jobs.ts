import { userOf } from '../../../access/actor.ts'
import { callerKey } from '../../../access/caller-key.ts'
import { PatternBudget } from '../../../base/patterns/budget.ts'
import { badRequest, forbidden } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import type { PipelineStatus } from '../../../store/schema/commits.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { assertGivenInputs, withGivenInputs } from '../../config/job-inputs.ts'
import type { ValueMap } from '../../config/values.ts'
import { forgetApprovals } from '../../environments/approvals.ts'
import {
  findJobById,
  findJobState,
  type JobRow,
  type JobStateRow,
  listJobStates,
  replaceJob,
  updateJob,
} from '../job-queries.ts'
import { listChildIds } from '../queries.ts'
import { cancelAfterFailure, cancelJobs, enqueueJobs, processPipeline } from './process.ts'
import { changeJob, changeJobs } from './transitions.ts'

const RETRYABLE: readonly PipelineStatus[] = ['success', 'failed', 'canceled']

export function isRetryable(job: Pick<JobRow, 'status' | 'retried'>): boolean {
  return job.retried === 0 && RETRYABLE.includes(job.status)
}

/**
 * Ends a job that has not ended; what has stays as it is (docs/contract/B-resolved §5.4 cancel). `force` ends one at once that its
 * runner is still canceling.
 */
export async function cancelJob(
  ctx: Ctx,
  job: Pick<JobRow, 'id' | 'pipeline_id'>,
  options: { readonly force?: boolean } = {},
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const state = await findJobState(ctx.db, job.id)
    if (!state) return
    const isCanceling = state.status === 'canceling'
    const changed = isCanceling
      ? options.force === true && (await changeJob(ctx, 'end_cancel', job))
      : await cancelJobs(ctx, [state])
    if (changed) await processPipeline(ctx, job.pipeline_id)
  })
}

/** Ends all that has not ended in a pipeline and its children. */
export async function cancelPipeline(ctx: Ctx, pipelineId: number): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    await cancelJobs(ctx, await listJobStates(ctx.db, pipelineId))
    await processPipeline(ctx, pipelineId)
    for (const id of await listChildIds(ctx.db, pipelineId)) await cancelPipeline(ctx, id)
  })
}

/** Ends a pipeline that the server could not start. */
export async function failPipeline(ctx: Ctx, pipelineId: number): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const jobs = await listJobStates(ctx.db, pipelineId)
    await changeJobs(ctx, 'drop', idsOf(jobs), { failure_reason: 'unknown_failure' })
    await processPipeline(ctx, pipelineId)
  })
}

/** Whether a job waits for somebody, or for its time. */
export function isPlayable(job: Pick<JobRow, 'status'>): boolean {
  return job.status === 'manual' || job.status === 'scheduled'
}

/** Puts a new job in the place of one that has ended, and lets it begin at once; 403 for one that has its successor. */
export async function retryJob(
  ctx: Ctx,
  jobId: number,
  inputs: Readonly<Record<string, unknown>> = {},
): Promise<number> {
  await assertInputs(ctx, jobId, inputs)
  return await inTransaction(ctx, async (ctx) => {
    // Read inside: of two who ask at once, one is too late.
    const job = await findJobById(ctx.db, jobId)
    if (!job || !isRetryable(job)) throw forbidden('Job is not retryable')
    const id = await replaceJob(ctx.db, job.id, { user_id: callerOf(ctx), retries: 0 }, ctx.now())
    await giveInputs(ctx, { ...job, id }, inputs)
    await enqueueJobs(ctx, [{ ...job, id }])
    await resumeSkipped(ctx, job)
    await processPipeline(ctx, job.pipeline_id)
    return id
  })
}

/** 400 for values that the inputs of a job do not take. Before the transaction: patterns of the inputs may take a while. */
async function assertInputs(
  ctx: Ctx,
  jobId: number,
  inputs: Readonly<Record<string, unknown>>,
): Promise<void> {
  const job = Object.keys(inputs).length > 0 ? await findJobById(ctx.db, jobId) : undefined
  if (!job) return
  const options = JSON.parse(job.options) as ValueMap // written by us
  await assertGivenInputs(options, inputs, new PatternBudget({ caller: callerKey(ctx) }))
}

/** Keeps the values that somebody gives the inputs of a job that was not started yet. */
async function giveInputs(
  ctx: Ctx,
  { id, options }: Pick<JobRow, 'id' | 'options'>,
  inputs: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (Object.keys(inputs).length === 0) return
  const kept = withGivenInputs(JSON.parse(options) as ValueMap, inputs) // written by us
  await updateJob(ctx.db, id, { options: JSON.stringify(kept) }, ctx.now())
}

function callerOf(ctx: Ctx): number | null {
  return userOf(ctx.actor)?.id ?? null
}

/** Runs what failed or was canceled again, and then what was skipped because of it. */
export async function retryPipeline(ctx: Ctx, pipelineId: number): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const jobs = await listJobStates(ctx.db, pipelineId)
    const again = jobs.filter((job) => job.status === 'failed' || job.status === 'canceled')
    for (const job of again) {
      await replaceJob(ctx.db, job.id, { user_id: callerOf(ctx), retries: 0 }, ctx.now())
    }
    await lookAnew(ctx, jobs)
    await processPipeline(ctx, pipelineId)
  })
}

function idsOf(jobs: readonly JobStateRow[]): number[] {
  return jobs.map((job) => job.id)
}

/** Skipped jobs behind one that runs again are looked at anew. */
async function resumeSkipped(
  ctx: Ctx,
  before: Pick<JobRow, 'pipeline_id' | 'position'>,
): Promise<void> {
  const jobs = await listJobStates(ctx.db, before.pipeline_id)
  const behind = jobs.filter((job) => job.position > before.position || job.uses_needs === 1)
  await lookAnew(ctx, behind)
}

/** Lets those of some jobs that were skipped wait again. They run as whoever brings that about. */
async function lookAnew(ctx: Ctx, jobs: readonly JobStateRow[]): Promise<void> {
  const user_id = callerOf(ctx)
  const skipped = jobs.filter((job) => job.status === 'skipped')
  await changeJobs(ctx, 'process', idsOf(skipped), user_id === null ? {} : { user_id })
}

/** Starts a job that waits for somebody, or for its time; 400 for any other. */
export async function playJob(
  ctx: Ctx,
  jobId: number,
  sealedVariables: string | null,
  inputs: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await assertInputs(ctx, jobId, inputs)
  await inTransaction(ctx, async (ctx) => {
    // Read inside: one that runs keeps the person and the variables that it was started with.
    const job = await findJobById(ctx.db, jobId)
    if (!job || !isPlayable(job)) throw badRequest('Unplayable Job')
    const user_id = callerOf(ctx) ?? job.user_id
    const values = { user_id, sealed_variables: sealedVariables }
    // Whoever has approved of its deployment approved of what it would have been then.
    if (isAnother(job, values, inputs)) await forgetApprovals(ctx, job.id)
    await updateJob(ctx.db, job.id, values, ctx.now())
    await giveInputs(ctx, job, inputs)
    await enqueueJobs(ctx, [job])
    await resumeSkipped(ctx, job)
    await processPipeline(ctx, job.pipeline_id)
  })
}

/** Whether a job is another by what it is given. Two sealed texts cannot be compared, unless they are one. */
function isAnother(
  job: Pick<JobRow, 'user_id' | 'sealed_variables'>,
  given: Pick<JobRow, 'user_id' | 'sealed_variables'>,
  inputs: Readonly<Record<string, unknown>>,
): boolean {
  return (
    job.user_id !== given.user_id ||
    job.sealed_variables !== given.sealed_variables ||
    Object.keys(inputs).length > 0
  )
}

/** How a job came to its end. */
export type JobEnd =
  | { readonly status: 'success' }
  | { readonly status: 'canceled' }
  | { readonly status: 'failed'; readonly reason: string; readonly exitCode?: number | undefined }

/**
 * Ends a job, runs it again where its configuration says so, and lets the pipeline go on. A job that was being canceled is
 * canceled however its script ended. False when it had ended before.
 */
export async function endJob(
  ctx: Ctx,
  job: Pick<JobRow, 'id' | 'pipeline_id'>,
  end: JobEnd,
): Promise<boolean> {
  return await inTransaction(ctx, async (ctx) => {
    if (!(await enterEnd(ctx, job, end))) return false
    await processPipeline(ctx, job.pipeline_id)
    return true
  })
}

async function enterEnd(ctx: Ctx, job: { readonly id: number }, end: JobEnd): Promise<boolean> {
  if (await changeJob(ctx, 'end_cancel', job)) return true
  if (end.status === 'success') return await changeJob(ctx, 'succeed', job)
  if (end.status === 'canceled') return await changeJob(ctx, 'cancel', job)
  const row = await findJobById(ctx.db, job.id)
  if (!row) return false
  const { reason, exitCode } = end
  const options = JSON.parse(row.options) as Record<string, unknown> // written by us
  const allow_failure = row.allow_failure === 1 || allowsExit(options, exitCode)
  const values = { failure_reason: reason, exit_code: exitCode ?? null, allow_failure }
  if (!(await changeJob(ctx, 'drop', job, values))) return false
  if (row.retried === 0 && retriesAfter(options, end, row.retries)) {
    const again = { user_id: row.user_id, retries: row.retries + 1 }
    const id = await replaceJob(ctx.db, row.id, again, ctx.now())
    await enqueueJobs(ctx, [{ ...row, id }])
  } else if (!allow_failure) await cancelAfterFailure(ctx, row.pipeline_id)
  return true
}

function mapOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>) // any object
    : {}
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value]
}

/** `allow_failure:exit_codes` (docs/contract/D §5.2). */
function allowsExit(
  options: Readonly<Record<string, unknown>>,
  exitCode: number | undefined,
): boolean {
  const codes = listOf(mapOf(options.allow_failure_criteria).exit_codes)
  return exitCode !== undefined && codes.includes(exitCode)
}

/** What the project's members must change before another run can go well. */
const FINAL_REASONS: readonly string[] = [
  'archived_failure',
  'builds_disabled',
  'ci_quota_exceeded',
  'no_matching_runner',
  'trace_size_exceeded',
  'user_blocked',
  'project_deleted',
]

/** `retry` as a number or with `max`, `when` and `exit_codes` (docs/contract/D §5.2). */
function retriesAfter(
  options: Readonly<Record<string, unknown>>,
  end: Extract<JobEnd, { status: 'failed' }>,
  before: number,
): boolean {
  const { retry } = options
  const rule = mapOf(retry)
  const max = typeof retry === 'number' ? retry : Number(rule.max ?? (retry ? 2 : 0))
  if (before >= max || FINAL_REASONS.includes(end.reason)) return false
  const when = listOf(rule.when)
  const codes = listOf(rule.exit_codes)
  if (when.length === 0 && codes.length === 0) return true
  if (when.includes('always') || when.includes(end.reason)) return true
  return end.exitCode !== undefined && codes.includes(end.exitCode)
}
