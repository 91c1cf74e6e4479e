import type { SourceRef } from '../../access/sources.ts'
import type { Page, Paged } from '../../base/page.ts'
import { listPage } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'
import { serviceAccountColumns } from './entity.ts'
import type { ServiceAccountRow } from './rows.ts'

function accountsQuery(db: Db) {
  return db
    .selectFrom('users')
    .select(serviceAccountColumns)
    .where('users.kind', '=', 'service_account')
}

/** Service accounts of a group or project, or all of the instance; without the server's own, of the address `hidden`. */
export function listAccountRows(
  db: Db,
  hidden: string,
  place: SourceRef | undefined,
  order: { readonly by: 'id' | 'username'; readonly sort: 'asc' | 'desc' },
  page: Page,
): Promise<Paged<ServiceAccountRow>> {
  let query = accountsQuery(db)
    .where('users.email', '!=', hidden)
    .orderBy(`users.${order.by}`, order.sort)
  if (place) {
    query = query
      .where('users.service_source_type', '=', place.type)
      .where('users.service_source_id', '=', place.id)
  }
  return listPage(db, query, page, {
    id: 'users.id',
    idOf: (row) => row.id,
    keys: { username: { column: 'users.username', valueOf: (row) => row.username } },
  })
}
