import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { readReportText } from '../artifacts/report-text.ts'
import { artifactsOfJob } from '../pipelines/artifacts-of-job.ts'
import { jobOf } from '../pipelines/process/running.ts'
import { parseJunit } from './junit.ts'
import { replaceSuite } from './suite-queries.ts'

/** Reads the test report that a job has left; done again it says the same. */
export async function readReports(ctx: Ctx, jobId: number): Promise<void> {
  const job = await jobOf(ctx.db, jobId)
  const artifact = (await artifactsOfJob(ctx, jobId)).find((one) => one.file_type === 'junit')
  if (!job || !artifact) return
  const text = await readReportText(ctx, artifact)
  const report =
    text === undefined ? { fault: 'The report is too large, or broken' } : parseJunit(text)
  await inTransaction(ctx, (ctx) => replaceSuite(ctx.db, jobId, job.name, report))
}
