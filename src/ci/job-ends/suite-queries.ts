import type { Db } from '../../store/schema.ts'
import type { JunitSuite } from './junit.ts'

/** Writes what a job reports of its tests, in the place of what was there. */
export async function replaceSuite(
  db: Db,
  jobId: number,
  name: string,
  suite: JunitSuite,
): Promise<void> {
  await db.deleteFrom('ci_test_suites').where('job_id', '=', jobId).execute()
  await db
    .insertInto('ci_test_suites')
    .values({ job_id: jobId, name, ...suite })
    .execute()
}
