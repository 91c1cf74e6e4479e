import type { OffsetPage, Paged } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { Db, NewRowOf } from '../../store/schema.ts'

export async function insertUpload(db: Db, row: NewRowOf<'uploads'>): Promise<number> {
  const { id } = await db
    .insertInto('uploads')
    .values(row)
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

function uploadQuery(db: Db, projectId: number) {
  return db
    .selectFrom('uploads')
    .selectAll('uploads')
    .where('uploads.source_type', '=', 'project')
    .where('uploads.source_id', '=', projectId)
}

export type UploadRow = NonNullable<Awaited<ReturnType<typeof findUploadById>>>

export async function findUploadById(db: Db, projectId: number, id: number) {
  return await uploadQuery(db, projectId).where('uploads.id', '=', id).executeTakeFirst()
}

export async function findUploadBySecret(
  db: Db,
  projectId: number,
  secret: string,
  filename: string,
) {
  return await uploadQuery(db, projectId)
    .where('uploads.secret', '=', secret)
    .where('uploads.filename', '=', filename)
    .executeTakeFirst()
}

/** Uploads of a project, the newest first. */
export async function listUploads(
  db: Db,
  projectId: number,
  page: OffsetPage,
): Promise<Paged<UploadRow>> {
  return await listPage(db, uploadQuery(db, projectId).orderBy('uploads.id', 'desc'), page)
}

export async function deleteUpload(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('uploads').where('id', '=', id))
}

const AVATAR_TABLES = {
  user: 'users',
  group: 'namespaces',
  project: 'projects',
  topic: 'topics',
} as const

/** The file of an avatar. */
export async function findAvatarFile(
  db: Db,
  kind: 'user' | 'group' | 'project' | 'topic',
  id: number,
): Promise<string | null> {
  const table = AVATAR_TABLES[kind]
  const row = await db
    .selectFrom(table)
    .select('avatar_file')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.avatar_file ?? null
}
