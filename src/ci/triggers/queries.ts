import type { OffsetPage, Paged } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type TriggerRow = RowOf<'ci_triggers'>

export function listTriggers(
  db: Db,
  projectId: number,
  page: OffsetPage,
): Promise<Paged<TriggerRow>> {
  const query = db.selectFrom('ci_triggers').selectAll().where('project_id', '=', projectId)
  return listPage(db, query.orderBy('id'), page)
}

export async function findTrigger(
  db: Db,
  projectId: number,
  id: number,
): Promise<TriggerRow | undefined> {
  return await db
    .selectFrom('ci_triggers')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export async function findTriggerByDigest(db: Db, digest: Buffer): Promise<TriggerRow | undefined> {
  return await db
    .selectFrom('ci_triggers')
    .selectAll()
    .where('token_digest', '=', digest)
    .executeTakeFirst()
}

export async function insertTrigger(db: Db, row: NewRowOf<'ci_triggers'>): Promise<TriggerRow> {
  return await db.insertInto('ci_triggers').values(row).returningAll().executeTakeFirstOrThrow()
}

export async function updateTrigger(
  db: Db,
  id: number,
  values: ChangesOf<'ci_triggers'>,
): Promise<TriggerRow> {
  return await db
    .updateTable('ci_triggers')
    .set(values)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteTrigger(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('ci_triggers').where('id', '=', id))
}
