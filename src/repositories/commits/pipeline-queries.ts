import type { Db } from '../../store/schema.ts'

/** The newest pipeline of a commit. */
export function findNewestPipeline(db: Db, projectId: number, sha: string) {
  return db
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('sha', '=', sha)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}
