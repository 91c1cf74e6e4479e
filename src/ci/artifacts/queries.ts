import { type SqlBool, sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type ArtifactRow = RowOf<'ci_job_artifacts'>

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
  row: NewRowOf<'ci_job_artifacts'>,
): Promise<ArtifactRow | undefined> {
  return await db
    .insertInto('ci_job_artifacts')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
}

/** The limit for one file, in mebibytes, of the nearest group above a project that has one. */
export async function findGroupLimit(db: Db, namespaceId: number): Promise<number | undefined> {
  const { rows } = await sql<{ most: number }>`
    SELECT json_extract(n.settings, '$.max_artifacts_size') AS most FROM namespace_ancestors a
    JOIN namespaces n ON n.id = a.ancestor_id
    WHERE a.namespace_id = ${namespaceId} AND json_extract(n.settings, '$.max_artifacts_size') IS NOT NULL
    ORDER BY a.depth LIMIT 1`.execute(db)
  return rows[0]?.most
}

/** Makes files of a job stay for ever, or until a moment. */
export async function setExpiry(db: Db, jobId: number, expireAt: Instant | null): Promise<void> {
  await db
    .updateTable('ci_job_artifacts')
    .set({ expire_at: expireAt })
    .where('job_id', '=', jobId)
    .execute()
}

/** Removes the files of a job, and what was read out of its test report. */
export async function deleteArtifacts(db: Db, jobId: number): Promise<void> {
  await db.deleteFrom('ci_job_artifacts').where('job_id', '=', jobId).execute()
  await db.deleteFrom('ci_test_suites').where('job_id', '=', jobId).execute()
}

/** Writes what a job reports of its tests, in the place of what was there. */
export async function replaceSuite(db: Db, suite: NewRowOf<'ci_test_suites'>): Promise<void> {
  await db.deleteFrom('ci_test_suites').where('job_id', '=', suite.job_id).execute()
  await db.insertInto('ci_test_suites').values(suite).execute()
}

/** Writes the variables that a job hands on, in the place of those that it had. */
export async function replaceJobVariables(
  db: Db,
  jobId: number,
  rows: readonly NewRowOf<'ci_job_variables'>[],
): Promise<void> {
  await db.deleteFrom('ci_job_variables').where('job_id', '=', jobId).execute()
  if (rows.length > 0) await db.insertInto('ci_job_variables').values(rows).execute()
}

/** How many successful pipelines of a ref are looked through for a job. */
const RECENT = 100

/**
 * The job of a name that has its archive, in the newest successful pipeline of a ref or its children, the parent before
 * them; or, for `recent`, in the newest such pipeline that has it.
 */
export async function findLatestJob(
  db: Db,
  projectId: number,
  ref: string,
  { name, recent }: { readonly name: string; readonly recent: boolean },
): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    WITH RECURSIVE roots AS (
      SELECT id FROM pipelines
      WHERE project_id = ${projectId} AND ref = ${ref} AND status = 'success'
        AND source <> 'parent_pipeline'
      ORDER BY id DESC LIMIT ${recent ? RECENT : 1}),
    family (root, id, depth) AS (
      SELECT id, id, 0 FROM roots
      UNION ALL
      SELECT f.root, s.pipeline_id, f.depth + 1 FROM family f
      JOIN ci_jobs bridge ON bridge.pipeline_id = f.id
      JOIN pipeline_sources s ON s.job_id = bridge.id
      JOIN pipelines child ON child.id = s.pipeline_id AND child.source = 'parent_pipeline')
    SELECT j.id FROM family f
    JOIN ci_jobs j ON j.pipeline_id = f.id AND j.name = ${name} AND j.retried = 0
    JOIN ci_job_artifacts a ON a.job_id = j.id AND a.file_type = 'archive'
    ORDER BY f.root DESC, f.depth, j.id DESC LIMIT 1`.execute(db)
  return rows[0]?.id
}

/** Whether the pipeline `p` is the newest success of its ref, or was started by it. */
const isNewestSuccess = sql<SqlBool>`(p.status = 'success' AND NOT EXISTS (
  SELECT 1 FROM pipelines newer WHERE newer.project_id = p.project_id AND newer.ref = p.ref
    AND newer.id > p.id AND newer.status = 'success' AND newer.source <> 'parent_pipeline'))`

/** Ends the time of the artifacts of a project, except those of the newest successful pipeline of each ref. */
export async function expireProject(db: Db, projectId: number, now: Instant): Promise<void> {
  const newest = db
    .selectFrom('pipelines as p')
    .select('p.id')
    .where('p.project_id', '=', projectId)
    .where(isNewestSuccess)
  const kept = db.selectFrom('ci_jobs').select('id').where('pipeline_id', 'in', newest)
  await db
    .updateTable('ci_job_artifacts')
    .set({ expire_at: now })
    .where('project_id', '=', projectId)
    .where('job_id', 'not in', kept)
    .execute()
}

/** The place of a file in the order in which their time is over. */
export interface Ending {
  readonly expire_at: Instant
  readonly id: number
}

/** The last of the next so many files whose time is over; undefined where there are fewer. */
export async function findPieceEnd(
  db: Db,
  now: Instant,
  after: Ending,
  many: number,
): Promise<Ending | undefined> {
  const { rows } = await sql<Ending>`
    SELECT expire_at, id FROM ci_job_artifacts
    WHERE expire_at <= ${now} AND (expire_at, id) > (${after.expire_at}, ${after.id})
    ORDER BY expire_at, id LIMIT 1 OFFSET ${many - 1}`.execute(db)
  return rows[0]
}

/**
 * Removes files whose time was over between two places; those of the newest successful pipeline of a ref stay while
 * `keepLatest` and their project want that.
 */
export async function deleteExpired(
  db: Db,
  after: Ending,
  last: Ending,
  keepLatest: boolean,
): Promise<void> {
  await sql`
    DELETE FROM ci_job_artifacts WHERE id IN (
      SELECT a.id FROM ci_job_artifacts a
      CROSS JOIN ci_jobs j ON j.id = a.job_id
      JOIN pipelines p ON p.id = j.pipeline_id
      JOIN projects pr ON pr.id = p.project_id
      WHERE a.expire_at BETWEEN ${after.expire_at} AND ${last.expire_at}
        AND (a.expire_at, a.id) > (${after.expire_at}, ${after.id})
        AND (a.expire_at, a.id) <= (${last.expire_at}, ${last.id})
        AND (${keepLatest ? 0 : 1}
          OR coalesce(json_extract(pr.settings, '$.keep_latest_artifact'), 1) = 0
          OR NOT ${isNewestSuccess}))`.execute(db)
}
