import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

/** Deletes tags, only those that were pushed by a moment if one is given, and gives the digests that they were at. */
export async function deleteTagsNamed(
  db: Db,
  repositoryId: number,
  names: readonly string[],
  pushedBy?: Instant,
): Promise<string[]> {
  let query = db
    .deleteFrom('container_tags')
    .where('repository_id', '=', repositoryId)
    .where('name', 'in', [...names])
  if (pushedBy !== undefined) query = query.where('created_at', '<=', pushedBy)
  const rows = await query.returning('digest').execute()
  return [...new Set(rows.map((row) => row.digest))]
}

/** The tags whose images hold a blob or manifest, by their own manifest or through an index: their names after one. */
export async function listTagsWith(
  db: Db,
  repositoryId: number,
  sha256: string,
  page: { readonly last: string; readonly most: number },
): Promise<string[]> {
  // Of plain joins SQLite would begin with all references, and all tags, and look for the few manifests among each.
  const { rows } = await sql<{ name: string }>`
    WITH RECURSIVE holding(sha256) AS (
      VALUES (${sha256})
      UNION SELECT m.file_sha256 FROM holding h
        CROSS JOIN container_references r ON r.repository_id = ${repositoryId} AND r.sha256 = h.sha256
        JOIN container_manifests m ON m.id = r.manifest_id)
    SELECT t.name FROM holding h
      CROSS JOIN container_tags t
        ON t.repository_id = ${repositoryId} AND t.digest = 'sha256:' || h.sha256
      WHERE +t.name > ${page.last}
      ORDER BY t.name LIMIT ${page.most}`.execute(db)
  return rows.map((row) => row.name)
}

/** Hashes that may follow some that went. What is left over goes with the daily collection. */
const MOST_FOLLOWING = 5000

/**
 * Deletes those of these manifests that no tag and no other manifest names, and gives the hashes of manifests that they
 * named and that belonged to them, which may now be unused in their turn.
 */
export async function deleteUnusedManifests(
  db: Db,
  repositoryId: number,
  hashes: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ sha256: string }>`
    WITH unused(id, sha256) AS (
      SELECT m.id, m.file_sha256 FROM container_manifests m
      WHERE m.repository_id = ${repositoryId}
        AND m.file_sha256 IN (SELECT value FROM json_each(${JSON.stringify(hashes)}))
        AND NOT EXISTS (SELECT 1 FROM container_tags t
          WHERE t.repository_id = m.repository_id AND t.digest = 'sha256:' || m.file_sha256)
        AND NOT EXISTS (SELECT 1 FROM container_references r
          WHERE r.repository_id = m.repository_id AND r.sha256 = m.file_sha256)),
    following(sha256) AS (
      SELECT c.file_sha256 FROM unused u
        CROSS JOIN container_references r ON r.manifest_id = u.id
        CROSS JOIN container_manifests c ON c.repository_id = r.repository_id AND c.file_sha256 = r.sha256
      UNION SELECT o.file_sha256 FROM unused u
        CROSS JOIN container_manifests o
          ON o.repository_id = ${repositoryId} AND o.subject_sha256 = u.sha256)
    SELECT sha256 FROM (SELECT sha256 FROM following LIMIT ${sql.lit(MOST_FOLLOWING)})
    UNION ALL SELECT 'gone:' || u.sha256 FROM unused u`.execute(db)
  const gone = rows.flatMap(({ sha256 }) => (sha256.startsWith('gone:') ? [sha256.slice(5)] : []))
  if (gone.length > 0) {
    await db
      .deleteFrom('container_manifests')
      .where('repository_id', '=', repositoryId)
      .where('file_sha256', 'in', gone)
      .execute()
  }
  return rows.map((row) => row.sha256).filter((sha256) => !sha256.startsWith('gone:'))
}

/**
 * Deletes some manifests that no tag and no other manifest has named since a moment, and that belong to none that is
 * there; gives how many there were. What those named or had may be unused only then.
 */
export async function deleteLeftManifests(db: Db, before: Instant, most: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    DELETE FROM container_manifests WHERE id IN (
      SELECT m.id FROM container_manifests m
        WHERE m.created_at < ${before}
          AND NOT EXISTS (SELECT 1 FROM container_tags t
            WHERE t.repository_id = m.repository_id AND t.digest = 'sha256:' || m.file_sha256)
          AND NOT EXISTS (SELECT 1 FROM container_references r
            WHERE r.repository_id = m.repository_id AND r.sha256 = m.file_sha256)
          AND NOT EXISTS (SELECT 1 FROM container_manifests s
            WHERE s.repository_id = m.repository_id AND s.file_sha256 = m.subject_sha256)
        LIMIT ${most})
    RETURNING id`.execute(db)
  return rows.length
}

export async function setRepositoryStatus(
  db: Db,
  repositoryId: number,
  status: 'delete_scheduled' | 'delete_ongoing' | 'delete_failed',
  now: Instant,
): Promise<void> {
  await db
    .updateTable('container_repositories')
    .set({ status, updated_at: now })
    .where('id', '=', repositoryId)
    .execute()
}

/** Deletes some rows of what a repository holds; the number shows whether more may be there. */
export async function deleteSomeOfRepository(
  db: Db,
  repositoryId: number,
  most: number,
): Promise<number> {
  let deleted = 0
  for (const table of ['container_tags', 'container_manifests', 'container_blobs'] as const) {
    const key = table === 'container_blobs' ? 'file_sha256' : 'id'
    const { numAffectedRows } = await sql`
      DELETE FROM ${sql.table(table)} WHERE repository_id = ${repositoryId} AND ${sql.id(key)} IN (
        SELECT ${sql.id(key)} FROM ${sql.table(table)}
          WHERE repository_id = ${repositoryId} LIMIT ${most})`.execute(db)
    deleted += Number(numAffectedRows ?? 0)
  }
  return deleted
}

export async function deleteRepositoryRow(db: Db, repositoryId: number): Promise<void> {
  await db.deleteFrom('container_repositories').where('id', '=', repositoryId).execute()
}

export function findRepositoryById(db: Db, id: number) {
  return db.selectFrom('container_repositories').selectAll().where('id', '=', id).executeTakeFirst()
}

export interface TagAge {
  readonly id: number
  readonly name: string
  readonly created_at: Instant
}

/** Tags of a repository with the moments they were pushed, newest first: those that were by a moment, after one of them. */
export function listTagAges(
  db: Db,
  repositoryId: number,
  page: {
    readonly pushedBy: Instant
    readonly after: TagAge | undefined
    readonly most: number
  },
): Promise<TagAge[]> {
  const { created_at, id } = page.after ?? {
    created_at: page.pushedBy,
    id: Number.MAX_SAFE_INTEGER,
  }
  return db
    .selectFrom('container_tags')
    .select(['id', 'name', 'created_at'])
    .where('repository_id', '=', repositoryId)
    .where(sql<boolean>`(created_at, id) < (${created_at}, ${id})`)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.most)
    .execute()
}

/** Notes that tags are deleted by a pattern, at most once in a while; false when that was done since `since`. */
export async function claimBulkDeletion(
  db: Db,
  repositoryId: number,
  times: { readonly since: Instant; readonly now: Instant },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('container_repositories')
    .set({ bulk_deletion_at: times.now })
    .where('id', '=', repositoryId)
    .where((is) =>
      is.or([is('bulk_deletion_at', 'is', null), is('bulk_deletion_at', '<=', times.since)]),
    )
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function saveCleanupStart(db: Db, repositoryId: number, now: Instant): Promise<void> {
  await db
    .updateTable('container_repositories')
    .set({ cleanup_policy_started_at: now })
    .where('id', '=', repositoryId)
    .execute()
}
