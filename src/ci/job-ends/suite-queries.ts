import type { Db } from '../../store/schema.ts'
import type { JunitReport } from './junit.ts'

/** Writes what a job reports of its tests, in the place of what was there. */
export async function replaceSuite(
  db: Db,
  jobId: number,
  name: string,
  report: JunitReport,
): Promise<void> {
  await db.deleteFrom('ci_test_suites').where('job_id', '=', jobId).execute()
  const cases = 'fault' in report ? [] : report.cases
  const count = (status: string) => cases.filter((one) => one.status === status).length
  await db
    .insertInto('ci_test_suites')
    .values({
      job_id: jobId,
      name,
      total_time: cases.reduce((sum, one) => sum + one.execution_time, 0),
      success_count: count('success'),
      failed_count: count('failed'),
      skipped_count: count('skipped'),
      error_count: count('error'),
      suite_error: 'fault' in report ? report.fault : null,
      cases: JSON.stringify(cases),
    })
    .execute()
}
