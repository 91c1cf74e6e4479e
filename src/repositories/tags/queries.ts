import type { Db } from '../../store/schema.ts'

export type TagRelease = Awaited<ReturnType<typeof listReleasesOfTags>>[number]

/** What tags show of their releases. */
export async function listReleasesOfTags(db: Db, projectId: number, tags: readonly string[]) {
  if (tags.length === 0) return []
  return db
    .selectFrom('releases')
    .select(['tag as tag_name', 'description'])
    .where('project_id', '=', projectId)
    .where('tag', 'in', tags)
    .execute()
}
