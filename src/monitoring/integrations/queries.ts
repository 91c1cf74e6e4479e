import type { OffsetPage } from '../../base/page.ts'
import { cachedQuery } from '../../store/cached-query.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type IntegrationRow = RowOf<'alert_integrations'>

export interface IntegrationFilter {
  readonly type?: 'http' | 'prometheus' | undefined
  readonly active?: boolean | undefined
}

export function listIntegrations(
  db: Db,
  projectId: number,
  filter: IntegrationFilter,
  page: OffsetPage,
) {
  let query = db.selectFrom('alert_integrations').selectAll().where('project_id', '=', projectId)
  if (filter.type) query = query.where('type', '=', filter.type)
  if (filter.active !== undefined) query = query.where('active', '=', filter.active ? 1 : 0)
  return listPage(db, query.orderBy('id'), page)
}

export function findIntegration(db: Db, projectId: number, id: number) {
  return db
    .selectFrom('alert_integrations')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** What a delivery needs of an integration: not its example, which may be as large as a payload. */
export type ReceivingIntegration = Pick<IntegrationRow, (typeof receiving)[number]>

const receiving = [
  'id',
  'type',
  'active',
  'endpoint_identifier',
  'sealed_token',
  'payload_attribute_mappings',
] as const

/** All integrations of a project, which every delivery asks for before anybody has shown a key. */
export function listAllIntegrations(db: Db, projectId: number): Promise<ReceivingIntegration[]> {
  return cachedQuery(db, `alert integrations of ${projectId}`, (db) =>
    db
      .selectFrom('alert_integrations')
      .select(receiving)
      .where('project_id', '=', projectId)
      .orderBy('id')
      .execute(),
  )
}

export function insertIntegration(db: Db, row: NewRowOf<'alert_integrations'>) {
  return db.insertInto('alert_integrations').values(row).returningAll().executeTakeFirstOrThrow()
}

export function updateIntegration(
  db: Db,
  id: number,
  changes: ChangesOf<'alert_integrations'>,
): Promise<IntegrationRow> {
  return db
    .updateTable('alert_integrations')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteIntegration(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('alert_integrations').where('id', '=', id))
}
