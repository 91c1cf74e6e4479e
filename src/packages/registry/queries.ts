import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import { cachedQuery } from '../../store/cached-query.ts'
import type { PackageType } from '../../store/schema/packages.ts'
import type { Db, RowOf } from '../../store/schema.ts'

export type PackageRow = RowOf<'packages'>
export type PackageFileRow = RowOf<'package_files'>

/** What names one version of a package, as its format compares names and versions. */
export interface PackageKey {
  readonly type: PackageType
  readonly nameKey: string
  readonly versionKey: string
}

export function findPackageRow(
  db: Db,
  projectId: number,
  key: PackageKey,
): Promise<PackageRow | undefined> {
  const name = JSON.stringify([projectId, key.type, key.nameKey, key.versionKey])
  return cachedQuery(db, `package ${name}`, (db) =>
    db
      .selectFrom('packages')
      .selectAll()
      .where('project_id', '=', projectId)
      .where('package_type', '=', key.type)
      .where('name_key', '=', key.nameKey)
      .where('version_key', '=', key.versionKey)
      .where('status', '<>', 'pending_destruction')
      .executeTakeFirst(),
  )
}

export function findPackageById(
  db: Db,
  projectId: number,
  id: number,
): Promise<PackageRow | undefined> {
  return db
    .selectFrom('packages')
    .selectAll()
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .where('status', '<>', 'pending_destruction')
    .executeTakeFirst()
}

/** Every version of a name in a project, oldest first. */
export function listVersionRows(
  db: Db,
  projectId: number,
  type: PackageType,
  nameKey: string,
): Promise<PackageRow[]> {
  return db
    .selectFrom('packages')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('package_type', '=', type)
    .where('name_key', '=', nameKey)
    .where('status', '<>', 'pending_destruction')
    .orderBy('id')
    .execute()
}

export function insertPackageRow(db: Db, values: Omit<PackageRow, 'id'>): Promise<PackageRow> {
  return db.insertInto('packages').values(values).returningAll().executeTakeFirstOrThrow()
}

/** Changes a package; false when it was deleted meanwhile, which nothing takes back. */
export async function updatePackageRow(
  db: Db,
  id: number,
  changes: Partial<Pick<PackageRow, 'status' | 'status_message'>>,
  now: Instant,
): Promise<boolean> {
  const changed = await db
    .updateTable('packages')
    .set({ ...changes, updated_at: now })
    .where('id', '=', id)
    .where('status', '<>', 'pending_destruction')
    .executeTakeFirst()
  return changed.numUpdatedRows > 0n
}

export async function saveMetadata(db: Db, packageId: number, content: string): Promise<void> {
  await db
    .insertInto('package_metadata')
    .values({ package_id: packageId, content })
    .onConflict((on) => on.column('package_id').doUpdateSet({ content }))
    .execute()
}

export function insertFileRow(
  db: Db,
  values: Omit<PackageFileRow, 'id' | 'status'>,
): Promise<PackageFileRow> {
  return db.insertInto('package_files').values(values).returningAll().executeTakeFirstOrThrow()
}

function files(db: Db, packageId: number) {
  return db
    .selectFrom('package_files')
    .selectAll()
    .where('package_id', '=', packageId)
    .where('status', '=', 'default')
}

/** The newest file of this name. */
export function findFileRow(
  db: Db,
  packageId: number,
  fileName: string,
): Promise<PackageFileRow | undefined> {
  return cachedQuery(db, `file of package ${packageId} ${fileName}`, (db) =>
    files(db, packageId)
      .where('file_name', '=', fileName)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst(),
  )
}

export function findFileById(
  db: Db,
  packageId: number,
  id: number,
): Promise<PackageFileRow | undefined> {
  return files(db, packageId).where('id', '=', id).executeTakeFirst()
}

export function listFileRows(db: Db, packageId: number): Promise<PackageFileRow[]> {
  return files(db, packageId).orderBy('id').execute()
}

/** Marks files that are to go; gives how many were not marked before. */
export async function markFiles(db: Db, ids: readonly number[], now: Instant): Promise<number> {
  const done = await db
    .updateTable('package_files')
    .set({ status: 'pending_destruction', updated_at: now })
    .where('id', 'in', [...ids])
    .where('status', '<>', 'pending_destruction')
    .executeTakeFirst()
  return Number(done.numUpdatedRows)
}

/** Takes away some of the files that are to go: of packages that are, or one by one. Gives how many there were. */
export async function deleteMarkedFiles(db: Db, most: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    DELETE FROM package_files WHERE id IN (
      SELECT f.id FROM package_files f JOIN packages p ON p.id = f.package_id
        WHERE p.status = 'pending_destruction'
      UNION ALL
      SELECT id FROM package_files WHERE status = 'pending_destruction'
      LIMIT ${most})
    RETURNING id`.execute(db)
  return rows.length
}

/** Takes away packages that are to go and have no files any more. */
export async function deleteEmptyPackages(db: Db, most: number): Promise<number> {
  const gone = await db
    .deleteFrom('packages')
    .where('id', 'in', (is) =>
      is
        .selectFrom('packages as p')
        .select('p.id')
        .where('p.status', '=', 'pending_destruction')
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('package_files as f').select('f.id').whereRef('f.package_id', '=', 'p.id'),
            ),
          ),
        )
        .limit(most),
    )
    .executeTakeFirst()
  return Number(gone.numDeletedRows)
}

/** Puts a tag on one version, and takes it from the other versions of the name. */
export async function moveTag(db: Db, at: PackageRow, name: string, now: Instant): Promise<void> {
  await removeTag(db, at, name)
  await db
    .insertInto('package_tags')
    .values({ package_id: at.id, name, created_at: now, updated_at: now })
    .execute()
}

/** Takes a tag from whichever version of the name has it. */
export async function removeTag(
  db: Db,
  at: Pick<PackageRow, 'project_id' | 'package_type' | 'name_key'>,
  name: string,
): Promise<boolean> {
  const gone = await db
    .deleteFrom('package_tags')
    .where('name', '=', name)
    .where('package_id', 'in', (is) =>
      is
        .selectFrom('packages')
        .select('id')
        .where('project_id', '=', at.project_id)
        .where('package_type', '=', at.package_type)
        .where('name_key', '=', at.name_key),
    )
    .executeTakeFirst()
  return gone.numDeletedRows > 0n
}

export async function linkPipeline(
  db: Db,
  pipelineId: number,
  to: { readonly packageId: number; readonly fileId?: number | undefined },
): Promise<void> {
  await db
    .insertInto('package_pipelines')
    .values({ package_id: to.packageId, pipeline_id: pipelineId })
    .onConflict((on) => on.doNothing())
    .execute()
  if (to.fileId === undefined) return
  await db
    .insertInto('package_file_pipelines')
    .values({ package_file_id: to.fileId, pipeline_id: pipelineId })
    .onConflict((on) => on.doNothing())
    .execute()
}

/** The pipeline of a job. */
export async function findJobPipeline(db: Db, jobId: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('ci_jobs')
    .select('pipeline_id')
    .where('id', '=', jobId)
    .executeTakeFirst()
  return row?.pipeline_id
}

export async function findLastDownload(db: Db, packageId: number): Promise<Instant | undefined> {
  const row = await cachedQuery(db, `download of package ${packageId}`, (db) =>
    db
      .selectFrom('package_downloads')
      .select('last_downloaded_at')
      .where('package_id', '=', packageId)
      .executeTakeFirst(),
  )
  return row?.last_downloaded_at
}

export async function saveLastDownload(db: Db, packageId: number, now: Instant): Promise<void> {
  await db
    .insertInto('package_downloads')
    .values({ package_id: packageId, last_downloaded_at: now })
    .onConflict((on) => on.column('package_id').doUpdateSet({ last_downloaded_at: now }))
    .execute()
}

/** Bytes of the packages and images of a project, with the pieces of uploads that nobody has finished. */
export async function sumStored(db: Db, projectId: number): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    SELECT coalesce((SELECT sum(size) FROM package_files WHERE project_id = ${projectId}), 0)
      + coalesce((SELECT sum(b.size) FROM container_blobs b
        JOIN container_repositories r ON r.id = b.repository_id
        WHERE r.project_id = ${projectId}), 0)
      + coalesce((SELECT sum(m.size) FROM container_manifests m
        JOIN container_repositories r ON r.id = m.repository_id
        WHERE r.project_id = ${projectId}), 0)
      + coalesce((SELECT sum(c.size) FROM container_upload_chunks c
        JOIN container_uploads u ON u.id = c.upload_id
        JOIN container_repositories r ON r.id = u.repository_id
        WHERE r.project_id = ${projectId}), 0) AS bytes`.execute(db)
  return rows[0]?.bytes ?? 0
}
