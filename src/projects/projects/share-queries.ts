import type { Db } from '../../store/schema.ts'

/** Whether a group at or above the namespace keeps its projects from being shared. */
export async function isSharingLocked(db: Db, namespaceId: number): Promise<boolean> {
  const row = await db
    .selectFrom('namespace_ancestors as a')
    .innerJoin('namespaces as n', 'n.id', 'a.ancestor_id')
    .select('n.id')
    .where('a.namespace_id', '=', namespaceId)
    .where('n.share_with_group_lock', '=', 1)
    .executeTakeFirst()
  return row !== undefined
}
