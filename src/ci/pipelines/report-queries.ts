import { sql } from 'kysely'
import type { Db, RowOf } from '../../store/schema.ts'

/** A report without its cases, which may be megabytes. */
export type SuiteRow = Omit<RowOf<'ci_test_suites'>, 'cases'>

/** What the jobs of a pipeline that count reported of their tests. */
export async function listTestSuites(db: Db, pipelineId: number): Promise<SuiteRow[]> {
  return await db
    .selectFrom('ci_test_suites')
    .innerJoin('ci_jobs', 'ci_jobs.id', 'ci_test_suites.job_id')
    .select(['ci_test_suites.id', 'ci_test_suites.job_id', 'ci_test_suites.name'])
    .select(['total_time', 'success_count', 'failed_count', 'skipped_count', 'error_count'])
    .select('suite_error')
    .where('ci_jobs.pipeline_id', '=', pipelineId)
    .where('ci_jobs.retried', '=', 0)
    .orderBy('ci_test_suites.id')
    .execute()
}

/** The cases of a report as JSON in UTF-8; none where it was deleted. */
export async function readTestCases(db: Db, suiteId: number): Promise<Buffer> {
  const row = await db
    .selectFrom('ci_test_suites')
    .select(sql<Buffer>`CAST(cases AS BLOB)`.as('bytes'))
    .where('id', '=', suiteId)
    .executeTakeFirst()
  return row?.bytes ?? Buffer.from('[]')
}
