import { sql } from 'kysely'
import type { Db } from '../../store/schema.ts'

const NOTHING = {
  merge_requests: 0,
  assigned_issues: 0,
  assigned_merge_requests: 0,
  review_requested_merge_requests: 0,
  todos: 0,
}

/** The tables that hold work for people; an instance without one of them has none of that work. */
async function hasTables(db: Db, names: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string }>`
    select name from sqlite_master where type = 'table' and name in (${sql.join(names)})`.execute(
    db,
  )
  return new Set(rows.map((row) => row.name))
}

async function count(db: Db, query: ReturnType<typeof sql<{ total: number }>>): Promise<number> {
  return (await query.execute(db)).rows[0]?.total ?? 0
}

/** What waits for a person: open issues and merge requests, reviews, to-do items. */
export async function countsFor(db: Db, userId: number): Promise<typeof NOTHING> {
  const has = await hasTables(db, [
    'issue_assignees',
    'merge_request_assignees',
    'merge_request_reviewers',
    'todos',
  ])
  const issues = has.has('issue_assignees')
    ? await count(
        db,
        sql`select count(*) as total from issue_assignees a join issues i on i.id = a.issue_id
          where a.user_id = ${userId} and i.state = 'opened'`,
      )
    : 0
  const assigned = has.has('merge_request_assignees')
    ? await count(
        db,
        sql`select count(*) as total from merge_request_assignees a
          join merge_requests m on m.id = a.merge_request_id
          where a.user_id = ${userId} and m.state = 'opened'`,
      )
    : 0
  const reviews = has.has('merge_request_reviewers')
    ? await count(
        db,
        sql`select count(*) as total from merge_request_reviewers a
          join merge_requests m on m.id = a.merge_request_id
          where a.user_id = ${userId} and m.state = 'opened'`,
      )
    : 0
  const todos = has.has('todos')
    ? await count(
        db,
        sql`select count(*) as total from todos where user_id = ${userId} and state = 'pending'`,
      )
    : 0
  return {
    merge_requests: assigned,
    assigned_issues: issues,
    assigned_merge_requests: assigned,
    review_requested_merge_requests: reviews,
    todos,
  }
}
