import { type Insertable, type Selectable, sql } from 'kysely'
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

/** Writes the variables that a job hands on, in the place of those that it had. */
export async function replaceJobVariables(
  db: Db,
  jobId: number,
  rows: readonly Insertable<CiJobVariablesTable>[],
): Promise<void> {
  await db.deleteFrom('ci_job_variables').where('job_id', '=', jobId).execute()
  if (rows.length > 0) await db.insertInto('ci_job_variables').values(rows).execute()
}

/** The job of a name in the newest successful pipeline of a ref that has its archive; parents before their children. */
export async function findLatestJob(
  db: Db,
  projectId: number,
  ref: string,
  name: string,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('pipelines')
    .innerJoin('ci_jobs', 'ci_jobs.pipeline_id', 'pipelines.id')
    .innerJoin('ci_job_artifacts', 'ci_job_artifacts.job_id', 'ci_jobs.id')
    .select('ci_jobs.id')
    .where('pipelines.project_id', '=', projectId)
    .where('pipelines.ref', '=', ref)
    .where('pipelines.status', '=', 'success')
    .where('ci_jobs.name', '=', name)
    .where('ci_jobs.retried', '=', 0)
    .where('ci_job_artifacts.file_type', '=', 'archive')
    .orderBy('pipelines.id', 'desc')
    .orderBy('ci_jobs.id', 'desc')
    .executeTakeFirst()
  return row?.id
}

/** Ends the time of the artifacts of a project, except those of the newest successful pipeline of each ref. */
export async function expireProject(db: Db, projectId: number, now: Instant): Promise<void> {
  const newest = db
    .selectFrom('pipelines')
    .select((select) => select.fn.max('id').as('id'))
    .where('project_id', '=', projectId)
    .where('status', '=', 'success')
    .groupBy('ref')
  const kept = db.selectFrom('ci_jobs').select('id').where('pipeline_id', 'in', newest)
  await db
    .updateTable('ci_job_artifacts')
    .set({ expire_at: now })
    .where('project_id', '=', projectId)
    .where('job_id', 'not in', kept)
    .execute()
}

/** Removes files whose time is over, except those of the newest successful pipeline of a ref; gives how many. */
export async function deleteExpired(db: Db, now: Instant, most: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    DELETE FROM ci_job_artifacts WHERE id IN (
      SELECT a.id FROM ci_job_artifacts a
      JOIN ci_jobs j ON j.id = a.job_id
      JOIN pipelines p ON p.id = j.pipeline_id
      JOIN projects pr ON pr.id = p.project_id
      WHERE a.expire_at <= ${now}
        AND (coalesce(json_extract(pr.settings, '$.keep_latest_artifact'), 1) = 0
          OR p.status <> 'success'
          OR EXISTS (SELECT 1 FROM pipelines newer WHERE newer.project_id = p.project_id
            AND newer.ref = p.ref AND newer.id > p.id AND newer.status = 'success'))
      ORDER BY a.expire_at LIMIT ${most})
    RETURNING id`.execute(db)
  return rows.length
}
