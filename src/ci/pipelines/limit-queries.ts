import { sql } from 'kysely'
import type { Db } from '../../store/schema.ts'

/** The jobs of a project that have not ended, in pipelines that have not. */
export async function countActiveJobs(db: Db, projectId: number): Promise<number> {
  const row = await db
    .selectFrom('ci_jobs')
    .innerJoin('pipelines', 'pipelines.id', 'ci_jobs.pipeline_id')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('ci_jobs.project_id', '=', projectId)
    .where('ci_jobs.retried', '=', 0)
    .where('ci_jobs.status', 'in', ['created', 'waiting_for_resource', 'pending', 'running'])
    .where('pipelines.status', 'in', ['created', 'waiting_for_resource', 'pending', 'running'])
    .executeTakeFirstOrThrow()
  return row.count
}

/** All pipelines that the first one above a pipeline has led to, itself among them; counted up to `most`. */
export async function countHierarchy(db: Db, pipelineId: number, most: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    WITH RECURSIVE above (id) AS (
      SELECT ${pipelineId}
      UNION
      SELECT ci_jobs.pipeline_id FROM above
        JOIN pipeline_sources ON pipeline_sources.pipeline_id = above.id
        JOIN ci_jobs ON ci_jobs.id = pipeline_sources.job_id
    ), below (id) AS (
      SELECT id FROM above WHERE id NOT IN (SELECT pipeline_id FROM pipeline_sources)
      UNION
      SELECT pipeline_sources.pipeline_id FROM below
        JOIN ci_jobs ON ci_jobs.pipeline_id = below.id
        JOIN pipeline_sources ON pipeline_sources.job_id = ci_jobs.id
    )
    SELECT count(*) AS count FROM (SELECT id FROM below LIMIT ${most})`.execute(db)
  return rows[0]?.count ?? 0
}
