import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

export async function insertUpload(db: Db, id: string, repositoryId: number, now: Instant) {
  await db
    .insertInto('container_uploads')
    .values({ id, repository_id: repositoryId, created_at: now })
    .execute()
}

export function findUpload(db: Db, id: string, repositoryId: number) {
  return db
    .selectFrom('container_uploads')
    .selectAll()
    .where('id', '=', id)
    .where('repository_id', '=', repositoryId)
    .executeTakeFirst()
}

/** The pieces of an upload in their order. */
export function listChunks(db: Db, uploadId: string) {
  return db
    .selectFrom('container_upload_chunks')
    .selectAll()
    .where('upload_id', '=', uploadId)
    .orderBy('start')
    .execute()
}

/** Adds a piece; false when another one came first. */
export async function insertChunk(
  db: Db,
  chunk: {
    readonly upload_id: string
    readonly start: number
    readonly size: number
    readonly file_sha256: string
  },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('container_upload_chunks')
    .values(chunk)
    .onConflict((on) => on.doNothing())
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

export async function deleteUpload(db: Db, id: string): Promise<void> {
  await db.deleteFrom('container_uploads').where('id', '=', id).execute()
}

/** Removes uploads that nobody has finished since a moment. */
export async function deleteOldUploads(db: Db, before: Instant): Promise<void> {
  await db.deleteFrom('container_uploads').where('created_at', '<', before).execute()
}

/** Forgets blobs that no manifest of their repository names and nobody has uploaded since a moment. */
export async function deleteUnusedBlobs(db: Db, before: Instant, most: number): Promise<number> {
  const { rows } = await sql<{ size: number }>`
    DELETE FROM container_blobs WHERE (repository_id, file_sha256) IN (
      SELECT b.repository_id, b.file_sha256 FROM container_blobs b
        WHERE b.created_at < ${before} AND NOT EXISTS (
          SELECT 1 FROM container_references r
            WHERE r.repository_id = b.repository_id AND r.sha256 = b.file_sha256)
        LIMIT ${most})
    RETURNING size`.execute(db)
  return rows.length
}
