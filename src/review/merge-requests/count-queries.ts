import { sql } from 'kysely'
import { readsInternalNotes, type Viewer } from '../../access/visible-queries.ts'
import type { Db } from '../../store/schema.ts'

/** What is counted about a merge request wherever it is shown. */
export interface Counts {
  readonly id: number
  readonly notes: number
  readonly unresolved: number
  readonly upvotes: number
  readonly downvotes: number
  readonly seconds_spent: number
  readonly changes_requested: number
  /** Merge requests that must be merged before. */
  readonly blocking: number
}

/** Counts of notes, open threads, thumbs and time of many merge requests, by id. */
export async function countsById(
  db: Db,
  viewer: Viewer,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Counts>> {
  if (ids.length === 0) return new Map()
  const wanted = sql`(SELECT value FROM json_each(${JSON.stringify(ids)}))`
  const { rows } = await sql<Counts>`
    SELECT mr.id,
      (SELECT count(*) FROM notes n WHERE n.noteable_type = 'MergeRequest' AND n.noteable_id = mr.id
        AND n.system = 0 AND (n.internal = 0 OR ${readsInternalNotes(viewer)})) AS notes,
      (SELECT count(DISTINCT n.discussion_id) FROM notes n WHERE n.noteable_type = 'MergeRequest'
        AND n.noteable_id = mr.id AND n.resolvable = 1 AND n.resolved_at IS NULL) AS unresolved,
      (SELECT count(*) FROM award_emoji e WHERE e.awardable_type = 'MergeRequest' AND e.awardable_id = mr.id
        AND e.name = 'thumbsup') AS upvotes,
      (SELECT count(*) FROM award_emoji e WHERE e.awardable_type = 'MergeRequest' AND e.awardable_id = mr.id
        AND e.name = 'thumbsdown') AS downvotes,
      (SELECT coalesce(sum(t.seconds), 0) FROM timelogs t WHERE t.subject_type = 'merge_request'
        AND t.subject_id = mr.id) AS seconds_spent,
      (SELECT count(*) FROM merge_request_reviewers r WHERE r.merge_request_id = mr.id
        AND r.state = 'requested_changes') AS changes_requested,
      (SELECT count(*) FROM merge_request_blocks b JOIN merge_requests other ON other.id = b.blocking_id
        WHERE b.blocked_id = mr.id AND other.state <> 'merged') AS blocking
    FROM merge_requests mr JOIN projects ON projects.id = mr.target_project_id
    WHERE mr.id IN ${wanted}`.execute(db)
  return new Map(rows.map((row) => [row.id, row]))
}
