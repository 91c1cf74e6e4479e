import { runInWorker, WorkerLimitError } from '../../base/workers/worker-pool.ts'
import type { Ctx } from '../../ctx.ts'
import { readReportText } from '../artifacts/report-text.ts'
import { saveSuite } from '../artifacts/save-suite.ts'
import { artifactsOfJob } from '../pipelines/artifacts-of-job.ts'
import { jobOf } from '../pipelines/process/running.ts'
import { type JunitSuite, suiteOf } from './junit.ts'

/** Characters of a report that is read in a moment. */
const SHORT = 256 * 1024
const TIMEOUT_MS = 10_000

/** Reads the test report that a job has left; done again it says the same. */
export async function readReports(ctx: Ctx, jobId: number): Promise<void> {
  const job = await jobOf(ctx.db, jobId)
  const artifact = (await artifactsOfJob(ctx, jobId)).find((one) => one.file_type === 'junit')
  if (!job || !artifact) return
  const text = await readReportText(ctx, artifact)
  const suite =
    text === undefined
      ? suiteOf({ fault: 'The report is too large, or broken' })
      : await read(text, `project ${job.project_id}`)
  await saveSuite(ctx, { job_id: jobId, name: job.name, ...suite })
}

async function read(text: string, caller: string): Promise<JunitSuite> {
  const module = new URL('./junit.ts', import.meta.url)
  const isLong = text.length > SHORT
  const options = { module, name: 'readSuite', timeoutMs: TIMEOUT_MS, isLong, caller }
  try {
    return await runInWorker<string, JunitSuite>(text, options)
  } catch (error) {
    // Where too many wait, the task is tried again.
    if (!(error instanceof WorkerLimitError) || error.limit === 'waiting') throw error
    return suiteOf({ fault: faults[error.limit] })
  }
}

const faults = {
  time: 'The report takes too long to read',
  memory: 'The report takes too much memory to read',
} as const
