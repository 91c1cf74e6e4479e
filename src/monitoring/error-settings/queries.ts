import type { OffsetPage } from '../../base/page.ts'
import { cachedQuery } from '../../store/cached-query.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type ErrorSettingsRow = RowOf<'error_tracking_settings'>
export type ClientKeyRow = RowOf<'error_client_keys'>

export function findErrorSettings(
  db: Db,
  projectId: number,
): Promise<ErrorSettingsRow | undefined> {
  return db
    .selectFrom('error_tracking_settings')
    .selectAll()
    .where('project_id', '=', projectId)
    .executeTakeFirst()
}

export function saveErrorSettings(
  db: Db,
  row: NewRowOf<'error_tracking_settings'>,
): Promise<ErrorSettingsRow> {
  const { active, integrated } = row
  return db
    .insertInto('error_tracking_settings')
    .values(row)
    .onConflict((conflict) => conflict.column('project_id').doUpdateSet({ active, integrated }))
    .returningAll()
    .executeTakeFirstOrThrow()
}

export function listClientKeys(db: Db, projectId: number, page: OffsetPage) {
  const query = db.selectFrom('error_client_keys').selectAll().where('project_id', '=', projectId)
  return listPage(db, query.orderBy('id'), page)
}

export function findClientKey(db: Db, projectId: number, id: number) {
  return db
    .selectFrom('error_client_keys')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export async function hasActiveKey(db: Db, projectId: number): Promise<boolean> {
  const row = await db
    .selectFrom('error_client_keys')
    .select('id')
    .where('project_id', '=', projectId)
    .where('active', '=', 1)
    .executeTakeFirst()
  return row !== undefined
}

export function insertClientKey(db: Db, row: NewRowOf<'error_client_keys'>): Promise<ClientKeyRow> {
  return db.insertInto('error_client_keys').values(row).returningAll().executeTakeFirstOrThrow()
}

export async function deleteClientKey(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('error_client_keys').where('id', '=', id))
}

/** Whether programs may report to a project with this key now; every report asks. */
export function isReportingKey(db: Db, projectId: number, key: string): Promise<boolean> {
  return cachedQuery(db, `error key ${projectId} ${key}`, async (db) => {
    const row = await db
      .selectFrom('error_client_keys as k')
      .innerJoin('error_tracking_settings as s', 's.project_id', 'k.project_id')
      .select('k.id')
      .where('k.public_key', '=', key)
      .where('k.project_id', '=', projectId)
      .where('k.active', '=', 1)
      .where('s.active', '=', 1)
      .where('s.integrated', '=', 1)
      .executeTakeFirst()
    return row !== undefined
  })
}
