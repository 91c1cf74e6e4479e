import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Watched } from '../../../store/live/row-watch.ts'
import type { Db } from '../../../store/schema.ts'
import { headPipeline } from '../pipeline-queries.ts'

/** What a merge request is like, as two short texts that differ when it does. */
export type RequestState = {
  /** Its state, whether it can be merged, its approvals and its pipeline. */
  readonly state: string
  /** What people say, but for what only members may read. */
  readonly notes: string
}

async function readStates(
  db: Db,
  ids: readonly number[],
): Promise<ReadonlyMap<number, RequestState>> {
  const { rows } = await sql<RequestState & { readonly id: number }>`
    SELECT mr.id,
      json_array(mr.state, mr.title, mr.draft, mr.merge_status, mr.head_sha, mr.auto_merge_sha,
        mr.rebase_in_progress, mr.merge_error, mr.approvals_syncing, mr.source_branch_exists, mr.target_branch,
        (SELECT json_group_array(user_id || ' ' || created_at) FROM approvals WHERE merge_request_id = mr.id),
        (SELECT json_group_array(user_id || ' ' || state) FROM merge_request_reviewers WHERE merge_request_id = mr.id),
        (SELECT p.id || ' ' || p.status ${headPipeline})) AS state,
      (SELECT json_array(count(*), max(id), max(updated_at), count(resolved_at)) FROM notes
        WHERE noteable_type = 'MergeRequest' AND noteable_id = mr.id AND internal = 0) AS notes
    FROM merge_requests mr WHERE mr.id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`.execute(
    db,
  )
  return new Map(
    rows.map(({ id, state, notes }) => [id, { state: shortOf(state), notes: shortOf(notes) }]),
  )
}

/** Merge requests that somebody looks at, by their ids. */
export const watchedRequests: Watched<number, RequestState> = {
  name: 'merge requests',
  tables: ['merge_requests', 'merge_request_reviewers', 'approvals', 'notes', 'pipelines'],
  read: readStates,
}

function shortOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 12)
}
