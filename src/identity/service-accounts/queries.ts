import { type RawBuilder, sql } from 'kysely'
import type { SourceRef } from '../../access/sources.ts'
import type { Page, Paged } from '../../base/page.ts'
import { namespacesBelow } from '../../store/hierarchy.ts'
import { listPage } from '../../store/pages.ts'
import type { SourceType } from '../../store/schema/core.ts'
import type { Db } from '../../store/schema.ts'
import { type ServiceAccountRow, serviceAccountColumns } from './entity.ts'

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

/** Ids of the service accounts and bots of a project. */
export function listAccountsOfProject(db: Db, projectId: number): Promise<number[]> {
  return listAccountsIn(db, 'project', sql`(${projectId})`)
}

/** Ids of the service accounts and bots of a group and of all groups below it. */
export function listAccountsBelow(db: Db, groupId: number): Promise<number[]> {
  return listAccountsIn(db, 'group', namespacesBelow(groupId))
}

async function listAccountsIn(
  db: Db,
  type: SourceType,
  sources: RawBuilder<unknown>,
): Promise<number[]> {
  // Bots are known by the token that they were made with.
  const { rows } = await sql<{ id: number }>`
    SELECT id FROM users WHERE service_source_type = ${type} AND service_source_id IN ${sources}
    UNION SELECT user_id FROM access_tokens WHERE source_type = ${type} AND source_id IN ${sources}`.execute(
    db,
  )
  return rows.map((row) => row.id)
}
