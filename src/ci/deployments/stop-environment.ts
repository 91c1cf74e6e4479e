import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import {
  type EnvironmentRow,
  findEnvironment,
  findLastDeployment,
} from '../environments/queries.ts'
import { keepRunning, markStopped } from '../environments/save-environment.ts'
import { isPlayable, isRetryable, playJob, retryJob } from '../pipelines/process/change-jobs.ts'
import { jobBeside } from '../pipelines/process/running.ts'

/**
 * Stops an environment: the job that its last deployment names for that is run, and stops it when it ends well; without
 * one, or by force, it counts as stopped at once.
 */
export async function stopEnvironment(
  ctx: Ctx,
  { id }: Pick<EnvironmentRow, 'id'>,
  options: { readonly force?: boolean } = {},
): Promise<EnvironmentRow> {
  return await inTransaction(ctx, async (ctx) => {
    // Read inside: it may have been stopped a moment ago.
    const row = existing(await findEnvironment(ctx.db, id), 'Environment')
    if (row.state === 'stopped') return row
    const isRunning = !options.force && (await runStopJob(ctx, row))
    if (!isRunning) return await markStopped(ctx, row)
    return (await findEnvironment(ctx.db, row.id)) ?? row
  })
}

/** The job that the last deployment names to stop what it made. */
export async function findStopJob(ctx: Pick<Ctx, 'db'>, row: EnvironmentRow) {
  const last = await findLastDeployment(ctx.db, row.id, 'success')
  if (!last || last.job_id === null || last.on_stop === null) return undefined
  return await jobBeside(ctx.db, last.job_id, last.on_stop)
}

/** Stops an environment whose time is over; one that stops with an action only goes on when there is none. */
export async function stopInTime(ctx: Ctx, row: EnvironmentRow): Promise<void> {
  if (row.auto_stop_setting === 'always' || (await findStopJob(ctx, row))) {
    await stopEnvironment(ctx, row)
  } else await keepRunning(ctx, row)
}

/** False when the last deployment names no job that stops what it made. */
async function runStopJob(ctx: Ctx, row: EnvironmentRow): Promise<boolean> {
  const job = await findStopJob(ctx, row)
  if (!job) return false
  if (isPlayable(job)) await playJob(ctx, job.id, null)
  else if (isRetryable(job)) await retryJob(ctx, job.id)
  return true
}
