import type { Db } from '../../store/schema.ts'

/** The projects below a group. */
export async function listProjectsBelow(db: Db, groupId: number) {
  return db
    .selectFrom('projects')
    .innerJoin('namespace_ancestors as a', 'a.namespace_id', 'projects.namespace_id')
    .select(['projects.id', 'projects.namespace_id'])
    .where('a.ancestor_id', '=', groupId)
    .execute()
}

export function findPlaceOf(db: Db, projectId: number) {
  return db
    .selectFrom('projects')
    .select(['id', 'namespace_id'])
    .where('id', '=', projectId)
    .executeTakeFirstOrThrow()
}
