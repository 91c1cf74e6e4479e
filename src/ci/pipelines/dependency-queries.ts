import type { InferResult } from 'kysely'
import { sql } from 'kysely'
import type { Db } from '../../store/schema.ts'

export interface Wanting {
  readonly pipelineId: number
  readonly jobId: number
  readonly position: number
  readonly byNeeds: boolean
}

function sources(db: Db, wanting: Wanting) {
  return db
    .selectFrom('ci_jobs')
    .innerJoin('ci_stages', 'ci_stages.id', 'ci_jobs.stage_id')
    .leftJoin('ci_job_artifacts', (join) =>
      join
        .onRef('ci_job_artifacts.job_id', '=', 'ci_jobs.id')
        .on('ci_job_artifacts.file_type', '=', 'archive'),
    )
    .select(['ci_jobs.id', 'ci_jobs.name', 'ci_jobs.status', 'ci_jobs.erased_at'])
    .select(['ci_jobs.artifacts_expire_at', 'ci_job_artifacts.filename', 'ci_job_artifacts.size'])
    .where('ci_jobs.pipeline_id', '=', wanting.pipelineId)
    .where('ci_jobs.kind', '=', 'build')
    .where('ci_jobs.retried', '=', 0)
    .where('ci_jobs.status', 'in', ['success', 'failed', 'canceled'])
}

export type SourceRow = InferResult<ReturnType<typeof sources>>[number]

/** The jobs whose artifacts a job gets unless it says otherwise. */
export async function listArtifactSources(db: Db, wanting: Wanting): Promise<SourceRow[]> {
  const query = wanting.byNeeds
    ? sources(db, wanting).where(
        'ci_jobs.name',
        'in',
        sql<string>`(SELECT name FROM ci_job_needs WHERE job_id = ${wanting.jobId} AND artifacts = 1)`,
      )
    : sources(db, wanting).where('ci_stages.position', '<', wanting.position)
  return await query.orderBy('ci_jobs.id').execute()
}

/** The variables of the dotenv reports of some jobs, sealed. */
export async function listDotenv(db: Db, jobIds: readonly number[]) {
  if (jobIds.length === 0) return []
  return await db
    .selectFrom('ci_job_variables')
    .select(['job_id', 'key', 'sealed_value'])
    .where('job_id', 'in', jobIds)
    .orderBy('job_id')
    .execute()
}
