import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { endJob } from '../pipelines/process/change-jobs.ts'
import { getJobStatus, jobOf, type RunningJob, touchRunning } from '../pipelines/process/running.ts'
import { readReceived, resetTrace } from '../traces/append-trace.ts'
import { RUNNER_REASONS } from './payload.ts'

/** What a runner says of its job. */
export interface JobReport {
  readonly state: 'pending' | 'running' | 'success' | 'failed'
  readonly reason: string | undefined
  readonly exitCode: number | undefined
  /** Of the whole log, as the runner sent it. */
  readonly crc: number | undefined
  readonly bytesize: number | undefined
}

/** After this long an end counts although the log is not whole. */
const PATIENCE_MS = 5 * 60_000

/**
 * Takes a sign of life or the end of a job. An end counts when the log is whole; before that the runner is asked to send
 * it again (412), for some minutes (docs/contract/D §1.24).
 */
export async function reportJob(
  ctx: Ctx,
  running: RunningJob,
  report: JobReport,
): Promise<{ readonly status: 200 | 412; readonly jobStatus: string }> {
  const { job_id: id } = running
  const isEnd = report.state === 'success' || report.state === 'failed'
  if (!isEnd) await touchRunning(ctx, id)
  else if (!(await isWhole(ctx, running, report))) {
    await touchRunning(ctx, id, { unproven_since: running.unproven_since ?? ctx.now() })
    await resetTrace(ctx, id)
    return { status: 412, jobStatus: (await getJobStatus(ctx.db, id)) ?? 'failed' }
  } else await end(ctx, id, report)
  return { status: 200, jobStatus: (await getJobStatus(ctx.db, id)) ?? 'failed' }
}

async function end(ctx: Ctx, id: number, report: JobReport): Promise<void> {
  const job = await jobOf(ctx.db, id)
  if (!job) return
  if (report.state === 'success') await endJob(ctx, job, { status: 'success' })
  else {
    const known = RUNNER_REASONS.some((reason) => reason === report.reason)
    const reason = known ? (report.reason ?? '') : reasonOf(report.reason)
    await endJob(ctx, job, { status: 'failed', reason, exitCode: report.exitCode })
  }
}

/** Programs without a reason mean their script; reasons that nobody knows are unknown. */
function reasonOf(given: string | undefined): string {
  return given === undefined || given === '' ? 'script_failure' : 'unknown_failure'
}

async function isWhole(ctx: Ctx, running: RunningJob, report: JobReport): Promise<boolean> {
  if (report.crc === undefined && report.bytesize === undefined) return true
  const since = running.unproven_since
  if (since !== null && since < later(ctx.now(), -PATIENCE_MS)) return true
  const received = await readReceived(ctx, running.job_id)
  if (report.bytesize !== undefined && received.size !== report.bytesize) return false
  return report.crc === undefined || received.crc === null || received.crc === report.crc
}
