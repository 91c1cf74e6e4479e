import type { Db } from '../../store/schema.ts'

/** The groups that a project is in, from its own up. */
export async function listGroupIds(db: Db, namespaceId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('namespace_ancestors')
    .innerJoin('namespaces', 'namespaces.id', 'namespace_ancestors.ancestor_id')
    .select('namespaces.id')
    .where('namespace_ancestors.namespace_id', '=', namespaceId)
    .where('namespaces.kind', '=', 'group')
    .orderBy('namespace_ancestors.depth')
    .execute()
  return rows.map((row) => row.id)
}
