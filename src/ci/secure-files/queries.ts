import type { OffsetPage, Paged } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type SecureFileRow = RowOf<'ci_secure_files'>

export function listSecureFiles(
  db: Db,
  projectId: number,
  page: OffsetPage,
): Promise<Paged<SecureFileRow>> {
  const query = db.selectFrom('ci_secure_files').selectAll().where('project_id', '=', projectId)
  return listPage(db, query.orderBy('id', 'desc'), page)
}

export async function findSecureFile(
  db: Db,
  projectId: number,
  id: number,
): Promise<SecureFileRow | undefined> {
  return await db
    .selectFrom('ci_secure_files')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export async function countSecureFiles(db: Db, projectId: number): Promise<number> {
  const row = await db
    .selectFrom('ci_secure_files')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow()
  return row.count
}

export async function insertSecureFile(
  db: Db,
  row: NewRowOf<'ci_secure_files'>,
): Promise<SecureFileRow> {
  return await db.insertInto('ci_secure_files').values(row).returningAll().executeTakeFirstOrThrow()
}

export async function deleteSecureFile(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('ci_secure_files').where('id', '=', id))
}
