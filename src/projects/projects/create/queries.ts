import { sql } from 'kysely'
import type { Db } from '../../../store/schema.ts'

/** The settings of a namespace, as JSON. */
export async function findNamespaceSettings(db: Db, id: number): Promise<string> {
  const row = await db
    .selectFrom('namespaces')
    .select('settings')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return row.settings
}

/** The default branch for new projects that the nearest group names, if any does. */
export async function findGroupBranch(db: Db, namespaceId: number): Promise<string | undefined> {
  const name = sql<string>`json_extract(namespaces.settings, '$.default_branch')`
  const nearest = await db
    .selectFrom('namespace_ancestors as above')
    .innerJoin('namespaces', 'namespaces.id', 'above.ancestor_id')
    .select(name.as('name'))
    .where('above.namespace_id', '=', namespaceId)
    .where(sql<boolean>`coalesce(${name}, '') <> ''`)
    .orderBy('above.depth')
    .executeTakeFirst()
  return nearest?.name
}
