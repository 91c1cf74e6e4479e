import { sql } from 'kysely'
import type { Db } from '../../store/schema.ts'

/** An open merge request into a project where somebody but its author has locked a file, and what it would bring. */
export interface AmongLocks {
  readonly id: number
  readonly author_id: number | null
  readonly target_project_id: number
  readonly base_sha: string
  readonly head_sha: string
}

/** Those of the merge requests that a lock may stand in the way of. */
export async function listAmongLocks(db: Db, ids: readonly number[]): Promise<AmongLocks[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<AmongLocks>`
    SELECT mr.id, mr.author_id, mr.target_project_id, v.base_sha, v.head_sha
    FROM merge_requests mr JOIN merge_request_versions v
      ON v.id = (SELECT max(id) FROM merge_request_versions WHERE merge_request_id = mr.id)
    WHERE mr.id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))
      AND EXISTS (SELECT 1 FROM lfs_locks l WHERE l.project_id = mr.target_project_id
        AND l.user_id IS NOT mr.author_id)`.execute(db)
  return rows
}
