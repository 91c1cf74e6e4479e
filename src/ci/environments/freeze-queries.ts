import type { OffsetPage } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type FreezeRow = RowOf<'ci_freeze_periods'>

export function selectFreezes(db: Db, projectId: number) {
  return db
    .selectFrom('ci_freeze_periods')
    .selectAll()
    .where('project_id', '=', projectId)
    .orderBy('created_at')
    .orderBy('id')
}

export function listFreezes(db: Db, projectId: number, page: OffsetPage) {
  return listPage(db, selectFreezes(db, projectId), page)
}

export async function countFreezes(db: Db, projectId: number): Promise<number> {
  const row = await db
    .selectFrom('ci_freeze_periods')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow()
  return row.count
}

export async function findFreeze(
  db: Db,
  projectId: number,
  id: number,
): Promise<FreezeRow | undefined> {
  return await selectFreezes(db, projectId).where('id', '=', id).executeTakeFirst()
}

export async function insertFreeze(db: Db, row: NewRowOf<'ci_freeze_periods'>): Promise<FreezeRow> {
  return await db
    .insertInto('ci_freeze_periods')
    .values(row)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function updateFreeze(
  db: Db,
  id: number,
  values: ChangesOf<'ci_freeze_periods'>,
): Promise<FreezeRow> {
  return await db
    .updateTable('ci_freeze_periods')
    .set(values)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteFreeze(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('ci_freeze_periods').where('id', '=', id))
}
