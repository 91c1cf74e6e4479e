import { z } from 'zod'
import { task } from '../../background/task.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { removeExpired } from '../artifacts/expire.ts'
import { listForsakenJobs } from '../pipelines/job-queries.ts'
import { endJob } from '../pipelines/process/change-jobs.ts'
import { processPipeline } from '../pipelines/process/process.ts'
import { endedJob } from '../pipelines/process/task-names.ts'
import { changeJob } from '../pipelines/process/transitions.ts'
import { findStale, findUnpicked, fitsAnyRunner } from '../queue/stale.ts'
import { removeSilentMachines } from '../runners/remove-silent.ts'
import { removeOldTraces } from '../traces/remove-old.ts'
import { removeOrphans } from '../traces/remove-orphans.ts'
import { storeTrace } from '../traces/store-trace.ts'
import { unstoredTraces } from '../traces/unstored.ts'
import { readCoverage } from './coverage.ts'
import { readReports } from './read-reports.ts'

/** What is left to do when a job has ended: its log is put away, and what it reports is read. */
export const followJobEnd = task({
  ...endedJob,
  lane: 'slow',
  async handler(ctx: Ctx, { job_id }) {
    await storeTrace(ctx, job_id)
    await readCoverage(ctx, job_id)
    await readReports(ctx, job_id)
  },
})

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** A runner that says nothing for so long has lost its job. */
const SILENT_MS = HOUR
/** Runners end jobs in time themselves; this is for those that do not. */
const GRACE_MS = 5 * MINUTE
/** So long a runner may take to say that it runs what it was given. */
const ACCEPT_MS = MINUTE
/** Jobs that no runner fits, and jobs that none took. */
const UNFIT_MS = HOUR
const UNPICKED_MS = 24 * HOUR

/**
 * Ends jobs that nobody will end: lost, overdue and stuck ones, each with its reason (docs/contract/D §1.24). Removes what
 * is over: artifacts, logs, and machines of runners that are gone.
 */
export const endStaleJobs = task({
  name: 'ci.end_stale_jobs',
  payload: z.object({}),
  async handler(ctx: Ctx) {
    await endLost(ctx)
    await endStuck(ctx)
    await endForsaken(ctx)
    await removeExpired(ctx)
    await removeOldTraces(ctx)
    await removeOrphans(ctx)
    await removeSilentMachines(ctx)
    for (const job_id of await unstoredTraces(ctx, later(ctx.now(), -10 * MINUTE))) {
      await ctx.work.enqueue(ctx.db, endedJob, { job_id }, { uniqueKey: String(job_id) })
    }
  },
})

async function endLost(ctx: Ctx): Promise<void> {
  const now = ctx.now()
  const silent = later(now, -SILENT_MS)
  const ended = later(now, -GRACE_MS)
  const overdue = await findStale(ctx, { silent, ended, unaccepted: later(now, -ACCEPT_MS) })
  for (const job of overdue) {
    const isLost = job.contacted_at < silent
    if (isLost || job.ends_at < ended) {
      const reason = isLost ? 'stuck_or_timeout_failure' : 'job_execution_timeout'
      await endJob(ctx, job, { status: 'failed', reason })
    } else {
      await inTransaction(ctx, async (ctx) => {
        const values = { runner_id: null, runner_manager_id: null }
        if (await changeJob(ctx, 'return_to_queue', job, values))
          await processPipeline(ctx, job.pipeline_id)
      })
    }
  }
}

/** What a job waits for may be deleted: the pipeline of a bridge, or the runner or user of any other. */
async function endForsaken(ctx: Ctx): Promise<void> {
  for (const job of await listForsakenJobs(ctx.db)) {
    const reason = job.kind === 'bridge' ? 'unknown_failure' : 'runner_system_failure'
    await endJob(ctx, job, { status: 'failed', reason })
  }
}

async function endStuck(ctx: Ctx): Promise<void> {
  const now = ctx.now()
  for (const job of await findUnpicked(ctx, later(now, -UNFIT_MS))) {
    const isOld = job.queued_at < later(now, -UNPICKED_MS)
    if (!isOld && (await fitsAnyRunner(ctx, job.id))) continue
    await endJob(ctx, job, { status: 'failed', reason: 'stuck_or_timeout_failure' })
  }
}
