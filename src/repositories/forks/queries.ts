import { sql } from 'kysely'
import type { Db } from '../../store/schema.ts'

/** Whether a group above keeps forks of its projects inside of it, and the target is outside. */
export async function isKeptInside(db: Db, namespaceId: number, target: number): Promise<boolean> {
  const group = await db
    .selectFrom('namespace_ancestors as above')
    .innerJoin('namespaces', 'namespaces.id', 'above.ancestor_id')
    .select('namespaces.id')
    .where('above.namespace_id', '=', namespaceId)
    .where(sql<boolean>`json_extract(namespaces.settings, '$.prevent_forking_outside_group') = 1`)
    .where(
      sql<boolean>`namespaces.id NOT IN
        (SELECT ancestor_id FROM namespace_ancestors WHERE namespace_id = ${target})`,
    )
    .executeTakeFirst()
  return group !== undefined
}
