import { sql } from 'kysely'
import type { Db, RowOf } from '../../store/schema.ts'

/** The newest pipeline of a commit that no other pipeline started. Every commit asks: to build it anew takes longer than to run it. */
export async function findNewestPipeline(db: Db, projectId: number, sha: string) {
  const { rows } = await sql<RowOf<'pipelines'>>`
    SELECT * FROM pipelines WHERE project_id = ${projectId} AND sha = ${sha}
      AND source <> 'parent_pipeline'
    ORDER BY id DESC LIMIT 1`.execute(db)
  return rows[0]
}
