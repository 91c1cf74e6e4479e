import { runInWorker, WorkerLimitError } from '../../base/workers/worker-pool.ts'
import type { Ctx } from '../../ctx.ts'
import { jobOf, setCoverage } from '../pipelines/process/running.ts'
import { readTraceEnd } from '../traces/read-trace.ts'

/** How much of the end of a log is searched. */
const MOST_BYTES = 2 * 1024 * 1024

/** Finds the coverage in the log of a job, as its `coverage` says: the last match counts (docs/contract/D §5.2). */
export async function readCoverage(ctx: Ctx, jobId: number): Promise<void> {
  const job = await jobOf(ctx.db, jobId)
  if (!job?.coverage_regex || job.coverage !== null) return
  const text = await readTraceEnd(ctx, jobId, MOST_BYTES)
  const caller = `project ${job.project_id}`
  const found = await search({ text, pattern: job.coverage_regex }, caller)
  if (found !== undefined) await setCoverage(ctx, jobId, found)
}

const TIMEOUT_MS = 10_000

/** Undefined also where the expression takes too long. */
async function search(
  input: { readonly text: string; readonly pattern: string },
  caller: string,
): Promise<number | undefined> {
  const module = new URL('./search-coverage.ts', import.meta.url)
  const options = { module, name: 'searchCoverage', timeoutMs: TIMEOUT_MS, isLong: true, caller }
  try {
    return await runInWorker<typeof input, number | undefined>(input, options)
  } catch (error) {
    // Where too many wait, the task is tried again.
    if (!(error instanceof WorkerLimitError) || error.limit === 'waiting') throw error
    return undefined
  }
}
