import { sql } from 'kysely'
import type { Db } from '../../store/schema.ts'

interface Counts {
  readonly assigned_issues: number
  readonly assigned_merge_requests: number
  readonly review_requested_merge_requests: number
  readonly todos: number
}

/** What waits for a person: open issues and merge requests, reviews, to-do items. */
export async function countsFor(db: Db, userId: number) {
  const { rows } = await sql<Counts>`
    select
      (select count(*) from assignees a join issues i on i.id = a.subject_id
        where a.subject_type = 'issue' and a.user_id = ${userId}
          and i.state = 'opened') as assigned_issues,
      (select count(*) from assignees a join merge_requests m on m.id = a.subject_id
        where a.subject_type = 'merge_request' and a.user_id = ${userId}
          and m.state = 'opened') as assigned_merge_requests,
      (select count(*) from merge_request_reviewers r
        join merge_requests m on m.id = r.merge_request_id
        where r.user_id = ${userId} and m.state = 'opened') as review_requested_merge_requests,
      (select count(*) from todos where user_id = ${userId} and state = 'pending') as todos`.execute(
    db,
  )
  const counts = rows[0] as Counts // a select without a table gives one row
  return { merge_requests: counts.assigned_merge_requests, ...counts }
}
