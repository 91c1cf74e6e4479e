import { sql } from 'kysely'
import type { Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type HealthCheckRow = RowOf<'health_checks'>

/** Whether the database answers. */
export async function answersReads(db: Db): Promise<boolean> {
  try {
    await sql`select 1`.execute(db)
    return true
  } catch {
    return false
  }
}

/** Projects after an id, in order, for a walk over all of them; those that are being made or removed are left out. */
export function listProjectsAfter(db: Db, id: number, limit: number) {
  return db
    .selectFrom('projects')
    .select(['id', 'full_path', 'default_branch', 'empty_repo'])
    .where('id', '>', id)
    .where('pending_delete', '=', 0)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Repositories of wikis and snippets after an id, in order; snippets that are being made or removed are left out. */
export function listWikisAndSnippetsAfter(db: Db, id: number, limit: number) {
  return db
    .selectFrom('wiki_snippet_repositories as repository')
    .leftJoin('projects', 'projects.id', 'repository.project_id')
    .leftJoin('namespaces', 'namespaces.id', 'repository.group_id')
    .leftJoin('snippets', 'snippets.id', 'repository.snippet_id')
    .select([
      'repository.id',
      'repository.project_id',
      'repository.group_id',
      'repository.snippet_id',
      'repository.default_branch',
    ])
    .select(['projects.full_path as project_path', 'namespaces.full_path as group_path'])
    .where('repository.id', '>', id)
    .where((is) =>
      is.or([is('repository.snippet_id', 'is', null), is('snippets.pending_delete', '=', 0)]),
    )
    .orderBy('repository.id')
    .limit(limit)
    .execute()
}

export async function countProjects(db: Db): Promise<number> {
  const { total } = await db
    .selectFrom('projects')
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow()
  return total
}

/** Background tasks that have failed for good. */
export async function countDeadTasks(db: Db): Promise<number> {
  const { total } = await db
    .selectFrom('tasks')
    .select(sql<number>`count(*)`.as('total'))
    .where('state', '=', 'dead')
    .executeTakeFirstOrThrow()
  return total
}

/** The newest moment that the database knows of something that has happened. */
export async function findNewestMoment(db: Db): Promise<string | null> {
  const { rows } = await sql<{ newest: string | null }>`
    SELECT max(newest) AS newest FROM (
      SELECT max(last_activity_at) AS newest FROM projects
      UNION ALL SELECT max(created_at) FROM users
      UNION ALL SELECT created_at FROM pushes WHERE id = (SELECT max(id) FROM pushes))`.execute(db)
  return rows[0]?.newest ?? null
}

/** The other projects of a network of forks. */
export async function listRelatives(db: Db, projectId: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    WITH RECURSIVE network(id) AS (
      VALUES (${projectId})
      UNION SELECT p.forked_from_id FROM projects p JOIN network n ON n.id = p.id
        WHERE p.forked_from_id IS NOT NULL
      UNION SELECT p.id FROM projects p JOIN network n ON n.id = p.forked_from_id)
    SELECT id FROM network WHERE id <> ${projectId} AND id IN (SELECT id FROM projects)`.execute(db)
  return rows.map(({ id }) => id)
}

/** A row whose bytes are in the store of files, or should be. */
export interface StoredRow {
  readonly sha256: string
  readonly size: number | null
  /** What it is, as people call it. */
  readonly what: string
}

/**
 * Rows that name files, by the columns that name them: each gives `sha256`, `size` (null where the row does not know) and
 * `what`. A test compares the columns with the schema.
 */
export const storedColumns = {
  'uploads.file': sql`SELECT file AS sha256, size, 'upload ' || filename || ' of ' || source_type || ' '
    || source_id AS what FROM uploads`,
  'projects.avatar_file': sql`SELECT avatar_file AS sha256, NULL AS size, 'avatar of ' || full_path AS what
    FROM projects`,
  'namespaces.avatar_file': sql`SELECT avatar_file AS sha256, NULL AS size, 'avatar of ' || full_path AS what
    FROM namespaces`,
  'topics.avatar_file': sql`SELECT avatar_file AS sha256, NULL AS size, 'avatar of the topic ' || name AS what
    FROM topics`,
  'users.avatar_file': sql`SELECT avatar_file AS sha256, NULL AS size, 'avatar of ' || username AS what
    FROM users`,
  'exports.file': sql`SELECT file AS sha256, size, 'export of ' || source_type || ' ' || source_id AS what
    FROM exports`,
  'ci_traces.sha256': sql`SELECT t.sha256, t.size, 'log of job ' || t.job_id || ' of ' || p.full_path AS what
    FROM ci_traces t JOIN ci_jobs j ON j.id = t.job_id JOIN projects p ON p.id = j.project_id`,
  'ci_job_artifacts.sha256': sql`SELECT a.sha256, a.size,
    'artifact ' || a.filename || ' of job ' || a.job_id || ' of ' || p.full_path AS what
    FROM ci_job_artifacts a JOIN projects p ON p.id = a.project_id`,
  'ci_secure_files.sealed_file': sql`SELECT s.sealed_file AS sha256, NULL AS size,
    'secure file ' || s.name || ' of ' || p.full_path AS what
    FROM ci_secure_files s JOIN projects p ON p.id = s.project_id`,
  'package_files.file_sha256': sql`SELECT f.file_sha256 AS sha256, f.size,
    'package file ' || f.file_name || ' of ' || p.full_path AS what
    FROM package_files f JOIN projects p ON p.id = f.project_id`,
  'forwarded_files.file_sha256': sql`SELECT file_sha256 AS sha256, size, 'cached package file ' || path AS what
    FROM forwarded_files`,
  'virtual_cache_entries.file_sha256': sql`SELECT file_sha256 AS sha256, size,
    'cached file ' || relative_path AS what FROM virtual_cache_entries`,
  'container_manifests.file_sha256': sql`SELECT m.file_sha256 AS sha256, m.size,
    'image manifest of ' || p.full_path AS what FROM container_manifests m
    JOIN container_repositories r ON r.id = m.repository_id JOIN projects p ON p.id = r.project_id`,
  'container_blobs.file_sha256': sql`SELECT b.file_sha256 AS sha256, b.size,
    'image layer of ' || p.full_path AS what FROM container_blobs b
    JOIN container_repositories r ON r.id = b.repository_id JOIN projects p ON p.id = r.project_id`,
  'container_upload_chunks.file_sha256': sql`SELECT file_sha256 AS sha256, size,
    'piece of an upload of an image' AS what FROM container_upload_chunks`,
  'lfs_objects.oid': sql`SELECT o.oid AS sha256, o.size, 'large file (LFS) of ' || p.full_path AS what
    FROM lfs_objects o JOIN projects p ON p.id = o.project_id`,
  'alert_metric_images.image_file': sql`SELECT image_file AS sha256, size, 'image ' || filename || ' of an alert' AS what
    FROM alert_metric_images`,
} as const

/** Files that rows name, after a name, in order: each once, with the first that names it. */
export async function listStoredAfter(db: Db, after: string, limit: number): Promise<StoredRow[]> {
  const all = sql.join(Object.values(storedColumns), sql` UNION ALL `)
  const { rows } = await sql<StoredRow>`
    SELECT sha256, max(size) AS size, min(what) AS what FROM (${all})
    WHERE sha256 > ${after} AND length(sha256) = 64
    GROUP BY sha256 ORDER BY sha256 LIMIT ${limit}`.execute(db)
  return rows
}

/** Newest first. */
export function healthChecksQuery(db: Db) {
  return db.selectFrom('health_checks').selectAll().orderBy('id', 'desc')
}

export function findLastHealthCheck(db: Db): Promise<HealthCheckRow | undefined> {
  return healthChecksQuery(db).limit(1).executeTakeFirst()
}

/** Notes what was found, and forgets those of long ago. */
export async function insertHealthCheck(
  db: Db,
  row: NewRowOf<'health_checks'>,
  kept: number,
): Promise<number> {
  const { id } = await db
    .insertInto('health_checks')
    .values(row)
    .returning('id')
    .executeTakeFirstOrThrow()
  await db
    .deleteFrom('health_checks')
    .where('id', '<=', id - kept)
    .execute()
  return id
}

/** Logs of jobs that are not in the store of files yet, after a job, with how much of each was received. */
export async function listGrowingLogs(db: Db, after: number, limit: number) {
  return await db
    .selectFrom('ci_traces')
    .innerJoin('ci_jobs', 'ci_jobs.id', 'ci_traces.job_id')
    .innerJoin('projects', 'projects.id', 'ci_jobs.project_id')
    .select(['ci_traces.job_id', 'ci_traces.size', 'projects.full_path'])
    .where('ci_traces.sha256', 'is', null)
    .where('ci_traces.size', '>', 0)
    .where('ci_traces.job_id', '>', after)
    .orderBy('ci_traces.job_id')
    .limit(limit)
    .execute()
}
