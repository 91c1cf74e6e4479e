import type { Selectable } from 'kysely'
import type { CiTestSuitesTable } from '../../store/schema/ci.ts'
import type { Db } from '../../store/schema.ts'

export type SuiteRow = Selectable<CiTestSuitesTable>

/** What the jobs of a pipeline that count reported of their tests. */
export async function listTestSuites(db: Db, pipelineId: number): Promise<SuiteRow[]> {
  return await db
    .selectFrom('ci_test_suites')
    .innerJoin('ci_jobs', 'ci_jobs.id', 'ci_test_suites.job_id')
    .selectAll('ci_test_suites')
    .where('ci_jobs.pipeline_id', '=', pipelineId)
    .where('ci_jobs.retried', '=', 0)
    .orderBy('ci_test_suites.id')
    .execute()
}
