import type { Insertable, Selectable } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { CiJobArtifactsTable, CiJobVariablesTable } from '../../store/schema/ci.ts'
import type { Db } from '../../store/schema.ts'

export type ArtifactRow = Selectable<CiJobArtifactsTable>

export async function findArtifact(
  db: Db,
  jobId: number,
  type: string,
): Promise<ArtifactRow | undefined> {
  return await db
    .selectFrom('ci_job_artifacts')
    .selectAll()
    .where('job_id', '=', jobId)
    .where('file_type', '=', type)
    .executeTakeFirst()
}

/** Adds a file; undefined when the job has one of the type. */
export async function insertArtifact(
  db: Db,
  row: Insertable<CiJobArtifactsTable>,
): Promise<ArtifactRow | undefined> {
  return await db
    .insertInto('ci_job_artifacts')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
}

/** The files of jobs, in the order in which they came. */
export async function listArtifacts(
  db: Db,
  jobIds: readonly number[],
): Promise<ReadonlyMap<number, readonly ArtifactRow[]>> {
  const found = new Map<number, ArtifactRow[]>()
  if (jobIds.length === 0) return found
  const rows = await db
    .selectFrom('ci_job_artifacts')
    .selectAll()
    .where('job_id', 'in', jobIds)
    .orderBy('id')
    .execute()
  for (const row of rows) {
    const known = found.get(row.job_id)
    if (known) known.push(row)
    else found.set(row.job_id, [row])
  }
  return found
}

/** Makes files of a job stay for ever, or until a moment. */
export async function setExpiry(db: Db, jobId: number, expireAt: Instant | null): Promise<void> {
  await db
    .updateTable('ci_job_artifacts')
    .set({ expire_at: expireAt })
    .where('job_id', '=', jobId)
    .execute()
}

/** Removes files of a job: all of them, or what may be erased beside its reports. */
export async function deleteArtifacts(db: Db, jobId: number): Promise<void> {
  await db.deleteFrom('ci_job_artifacts').where('job_id', '=', jobId).execute()
}

/** Files whose time is over, except those of the newest successful pipeline of a ref where the project keeps them. */
export async function listExpired(db: Db, now: Instant, most: number) {
  return await db
    .selectFrom('ci_job_artifacts')
    .innerJoin('ci_jobs', 'ci_jobs.id', 'ci_job_artifacts.job_id')
    .innerJoin('pipelines', 'pipelines.id', 'ci_jobs.pipeline_id')
    .select(['ci_job_artifacts.id', 'ci_job_artifacts.project_id', 'pipelines.id as pipeline_id'])
    .select(['pipelines.ref', 'pipelines.status'])
    .where('ci_job_artifacts.expire_at', '<=', now)
    .orderBy('ci_job_artifacts.expire_at')
    .limit(most)
    .execute()
}

export async function deleteArtifactRows(db: Db, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await db.deleteFrom('ci_job_artifacts').where('id', 'in', ids).execute()
}

/** Writes the variables that a job hands on, in the place of those that it had. */
export async function replaceJobVariables(
  db: Db,
  jobId: number,
  rows: readonly Insertable<CiJobVariablesTable>[],
): Promise<void> {
  await db.deleteFrom('ci_job_variables').where('job_id', '=', jobId).execute()
  if (rows.length > 0) await db.insertInto('ci_job_variables').values(rows).execute()
}
