import type { Db } from '../../store/schema.ts'

/** The mean of the coverages that jobs and reported statuses of a pipeline have, or those of this name alone. */
export async function findCoverage(
  db: Db,
  pipelineId: number,
  name?: string,
): Promise<string | null> {
  const parts = (table: 'ci_jobs' | 'commit_statuses') =>
    db
      .selectFrom(table)
      .select('coverage')
      .where('pipeline_id', '=', pipelineId)
      .where('retried', '=', 0)
      .$if(name !== undefined, (query) => query.where('name', '=', name ?? ''))
  const { mean } = await db
    .selectFrom(parts('ci_jobs').unionAll(parts('commit_statuses')).as('parts'))
    .select((is) => is.fn.avg<number | null>('coverage').as('mean'))
    .executeTakeFirstOrThrow()
  return mean === null ? null : mean.toFixed(2)
}
