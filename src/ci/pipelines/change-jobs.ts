import { userOf } from '../../access/actor.ts'
import type { Ctx } from '../../ctx.ts'
import type { PipelineStatus } from '../../store/schema/commits.ts'
import { inTransaction } from '../../store/transaction.ts'
import { type JobRow, listCurrentJobs, replaceJob, updateJob } from './job-queries.ts'
import { enqueueJob, processPipeline } from './process.ts'

const ENDED: readonly PipelineStatus[] = ['success', 'failed', 'canceled', 'skipped']
const RETRYABLE: readonly PipelineStatus[] = ['success', 'failed', 'canceled']

export function isRetryable(job: Pick<JobRow, 'status' | 'retried'>): boolean {
  return job.retried === 0 && RETRYABLE.includes(job.status)
}

/** Ends a job that has not ended; what has stays as it is (spec B-resolved §5.4 cancel). */
export async function cancelJob(ctx: Ctx, job: JobRow): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    if (!(await cancelRow(ctx, job))) return
    await processPipeline(ctx, job.pipeline_id)
  })
}

async function cancelRow(ctx: Ctx, job: JobRow): Promise<boolean> {
  if (ENDED.includes(job.status)) return false
  const now = ctx.now()
  await updateJob(ctx.db, job.id, { status: 'canceled', finished_at: now, scheduled_at: null }, now)
  return true
}

/** Ends all that has not ended in a pipeline. */
export async function cancelPipeline(ctx: Ctx, pipelineId: number): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    for (const job of await listCurrentJobs(ctx.db, pipelineId)) await cancelRow(ctx, job)
    await processPipeline(ctx, pipelineId)
  })
}

/** Puts a new job in the place of one that has ended; it starts as soon as the pipeline lets it. */
export async function retryJob(ctx: Ctx, job: JobRow): Promise<number> {
  return await inTransaction(ctx, async (ctx) => {
    const state = { status: 'created' as const, user_id: userOf(ctx.actor)?.id ?? null }
    const id = await replaceJob(ctx.db, job.id, state, ctx.now())
    await enqueueJob(ctx, { ...job, id })
    await waitAgain(ctx, job)
    await processPipeline(ctx, job.pipeline_id)
    return id
  })
}

/** Runs what failed or was canceled again, and then what was skipped because of it. */
export async function retryPipeline(ctx: Ctx, pipelineId: number): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const jobs = await listCurrentJobs(ctx.db, pipelineId)
    const user_id = userOf(ctx.actor)?.id ?? null
    for (const job of jobs) {
      if (job.status === 'failed' || job.status === 'canceled') {
        await replaceJob(ctx.db, job.id, { status: 'created', user_id }, ctx.now())
      } else if (job.status === 'skipped') {
        await updateJob(ctx.db, job.id, { status: 'created' }, ctx.now())
      }
    }
    await processPipeline(ctx, pipelineId)
  })
}

/** Skipped jobs behind one that runs again are asked anew. */
async function waitAgain(ctx: Ctx, before: JobRow): Promise<void> {
  for (const job of await listCurrentJobs(ctx.db, before.pipeline_id)) {
    const isBehind = job.position > before.position || job.uses_needs === 1
    if (job.status !== 'skipped' || !isBehind) continue
    await updateJob(ctx.db, job.id, { status: 'created' }, ctx.now())
  }
}

/** Starts a job that waits for somebody, or for its time. */
export async function playJob(
  ctx: Ctx,
  job: JobRow,
  sealedVariables: string | null,
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const user_id = userOf(ctx.actor)?.id ?? job.user_id
    const values = { user_id, sealed_variables: sealedVariables }
    await updateJob(ctx.db, job.id, values, ctx.now())
    await enqueueJob(ctx, job)
    await waitAgain(ctx, job)
    await processPipeline(ctx, job.pipeline_id)
  })
}

/** Ends a job that cannot go on, with the reason. */
export async function dropJob(ctx: Ctx, job: JobRow, reason: string): Promise<void> {
  await finishJob(ctx, job, { status: 'failed', failure_reason: reason })
}

/** Notes how a job ended, and lets the pipeline go on. */
export async function finishJob(
  ctx: Ctx,
  job: Pick<JobRow, 'id' | 'pipeline_id'>,
  end: {
    readonly status: 'success' | 'failed' | 'canceled'
    readonly failure_reason: string | null
  },
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    await updateJob(ctx.db, job.id, { ...end, finished_at: ctx.now() }, ctx.now())
    await processPipeline(ctx, job.pipeline_id)
  })
}
