import type { Db } from '../../store/schema.ts'

/** Descriptions of the releases of some tags, for tag lists. */
export async function listReleasesByTag(db: Db, projectId: number, tags: readonly string[]) {
  if (tags.length === 0) return []
  return db
    .selectFrom('releases')
    .select(['tag', 'description'])
    .where('project_id', '=', projectId)
    .where('tag', 'in', tags)
    .execute()
}
