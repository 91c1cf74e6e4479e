import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import { bytesBefore } from '../../store/bytes-before.ts'
import type { Db, RowOf } from '../../store/schema.ts'
import { imageProblem } from './problem.ts'

export type ManifestRow = RowOf<'container_manifests'>

export async function findRepositoryId(
  db: Db,
  projectId: number,
  name: string,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('container_repositories')
    .select('id')
    .where('project_id', '=', projectId)
    .where('name', '=', name)
    .where('status', 'is', null)
    .executeTakeFirst()
  return row?.id
}

/** The repository of a name, made when the first one uploads to it. */
export async function ensureRepository(
  db: Db,
  projectId: number,
  name: string,
  now: Instant,
): Promise<number> {
  await db
    .insertInto('container_repositories')
    .values({ project_id: projectId, name, created_at: now, updated_at: now })
    .onConflict((on) => on.doNothing())
    .execute()
  const id = await findRepositoryId(db, projectId, name)
  if (id === undefined) throw imageProblem('DENIED', 403, 'the repository is being deleted')
  return id
}

export function findBlob(db: Db, repositoryId: number, sha256: string) {
  return db
    .selectFrom('container_blobs')
    .selectAll()
    .where('repository_id', '=', repositoryId)
    .where('file_sha256', '=', sha256)
    .executeTakeFirst()
}

export async function insertBlob(
  db: Db,
  blob: { readonly repositoryId: number; readonly sha256: string; readonly size: number },
  now: Instant,
): Promise<void> {
  const { repositoryId: repository_id, sha256: file_sha256, size } = blob
  await db
    .insertInto('container_blobs')
    .values({ repository_id, file_sha256, size, created_at: now })
    // The time says when it was last wanted: collection waits a day from then.
    .onConflict((on) =>
      on.columns(['repository_id', 'file_sha256']).doUpdateSet({ created_at: now }),
    )
    .execute()
}

export async function deleteBlob(db: Db, repositoryId: number, sha256: string): Promise<boolean> {
  const gone = await db
    .deleteFrom('container_blobs')
    .where('repository_id', '=', repositoryId)
    .where('file_sha256', '=', sha256)
    .executeTakeFirst()
  return gone.numDeletedRows > 0n
}

/** Which of these blobs a repository has. */
export async function listBlobsAmong(db: Db, repositoryId: number, hashes: readonly string[]) {
  return await db
    .selectFrom('container_blobs')
    .select(['file_sha256', 'size'])
    .where('repository_id', '=', repositoryId)
    .where('file_sha256', 'in', [...hashes])
    .execute()
}

export async function listManifestsAmong(db: Db, repositoryId: number, hashes: readonly string[]) {
  return await db
    .selectFrom('container_manifests')
    .select(['file_sha256', 'total_size'])
    .where('repository_id', '=', repositoryId)
    .where('file_sha256', 'in', [...hashes])
    .execute()
}

export function findManifest(
  db: Db,
  repositoryId: number,
  sha256: string,
): Promise<ManifestRow | undefined> {
  return db
    .selectFrom('container_manifests')
    .selectAll()
    .where('repository_id', '=', repositoryId)
    .where('file_sha256', '=', sha256)
    .executeTakeFirst()
}

export function findTag(db: Db, repositoryId: number, name: string) {
  return db
    .selectFrom('container_tags')
    .selectAll()
    .where('repository_id', '=', repositoryId)
    .where('name', '=', name)
    .executeTakeFirst()
}

/** Stores a manifest. The time says when it was last wanted: collection waits a day from then. */
export async function saveManifest(
  db: Db,
  values: Omit<ManifestRow, 'id'>,
  references: readonly string[],
): Promise<void> {
  const known = await findManifest(db, values.repository_id, values.file_sha256)
  if (known) {
    const { created_at } = values
    await db
      .updateTable('container_manifests')
      .set({ created_at })
      .where('id', '=', known.id)
      .execute()
    return
  }
  const { id } = await db
    .insertInto('container_manifests')
    .values(values)
    .returning('id')
    .executeTakeFirstOrThrow()
  const rows = [...new Set(references)].map((sha256) => ({
    manifest_id: id,
    repository_id: values.repository_id,
    sha256,
  }))
  if (rows.length > 0) await db.insertInto('container_references').values(rows).execute()
}

export async function saveTag(
  db: Db,
  tag: {
    readonly repository_id: number
    readonly name: string
    readonly digest: string
    readonly total_size: number
    readonly created_at: Instant
  },
): Promise<void> {
  const { digest, total_size, created_at } = tag
  await db
    .insertInto('container_tags')
    .values(tag)
    .onConflict((on) =>
      on.columns(['repository_id', 'name']).doUpdateSet({ digest, total_size, created_at }),
    )
    .execute()
}

export async function deleteTags(db: Db, repositoryId: number, names: readonly string[]) {
  const gone = await db
    .deleteFrom('container_tags')
    .where('repository_id', '=', repositoryId)
    .where('name', 'in', [...names])
    .executeTakeFirst()
  return Number(gone.numDeletedRows)
}

/** Notes that the manifests at these tags were wanted until now, before the tags go or move. */
export async function noteLeft(
  db: Db,
  repositoryId: number,
  names: readonly string[],
  now: Instant,
): Promise<void> {
  await db
    .updateTable('container_manifests')
    .set({ created_at: now })
    .where('repository_id', '=', repositoryId)
    .where('file_sha256', 'in', (is) =>
      is
        .selectFrom('container_tags')
        .select(sql<string>`substr(digest, 8)`.as('sha256'))
        .where('repository_id', '=', repositoryId)
        .where('name', 'in', [...names]),
    )
    .execute()
}

/** Deletes some of the tags at a manifest; gives how many. */
export async function deleteTagsAt(
  db: Db,
  repositoryId: number,
  digest: string,
  most: number,
): Promise<number> {
  const gone = await db
    .deleteFrom('container_tags')
    .where('id', 'in', (is) =>
      is
        .selectFrom('container_tags')
        .select('id')
        .where('repository_id', '=', repositoryId)
        .where('digest', '=', digest)
        .limit(most),
    )
    .executeTakeFirst()
  return Number(gone.numDeletedRows)
}

export async function deleteManifest(db: Db, row: Pick<ManifestRow, 'id'>): Promise<void> {
  await db.deleteFrom('container_manifests').where('id', '=', row.id).execute()
}

/** The names of tags in their order, after one. */
export async function listTagNames(
  db: Db,
  repositoryId: number,
  page: { readonly last: string; readonly most: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('container_tags')
    .select('name')
    .where('repository_id', '=', repositoryId)
    .where('name', '>', page.last)
    .orderBy('name')
    .limit(page.most)
    .execute()
  return rows.map((row) => row.name)
}

/** The manifests that say they belong to this one, after one of them, until their annotations have so many bytes. */
export async function listReferrers(
  db: Db,
  repositoryId: number,
  sha256: string,
  page: {
    readonly artifactType?: string | undefined
    readonly after: number
    readonly most: number
    readonly bytes: number
  },
) {
  let found = db
    .selectFrom('container_manifests')
    .select(['id', bytesBefore('annotations', 'id', 'oldest').as('bytes')])
    .where('repository_id', '=', repositoryId)
    .where('subject_sha256', '=', sha256)
    .where('id', '>', page.after)
    .orderBy('id')
    .limit(page.most + 1)
  if (page.artifactType !== undefined) found = found.where('artifact_type', '=', page.artifactType)
  const sized = await found.execute()
  const ids = sized.slice(0, page.most).flatMap((one) => (one.bytes < page.bytes ? one.id : []))
  if (ids.length === 0) return { rows: [], hasMore: false }
  const query = db.selectFrom('container_manifests').selectAll().where('id', 'in', ids)
  return { rows: await query.orderBy('id').execute(), hasMore: sized.length > ids.length }
}
