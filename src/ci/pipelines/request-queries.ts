import { sql } from 'kysely'
import { listReviewedBranches } from '../../review/merge-requests/queries.ts'
import type { Db } from '../../store/schema.ts'

/** `group/project!7` of up to four open merge requests of a branch. */
export async function listOpenRequestPaths(
  db: Db,
  projectId: number,
  branch: string,
): Promise<string[]> {
  if (!(await listReviewedBranches(db, projectId)).has(branch)) return []
  const rows = await db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.target_project_id')
    .select(['projects.full_path', 'merge_requests.iid'])
    .where('merge_requests.source_project_id', '=', projectId)
    .where('merge_requests.source_branch', '=', branch)
    .where('merge_requests.state', '=', sql.lit('opened'))
    .orderBy('merge_requests.id', 'desc')
    .limit(4)
    .execute()
  return rows.map((row) => `${row.full_path}!${row.iid}`)
}
