import type { Day } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

/** The next open issues that are due on a day, in projects where work goes on, in the order of their ids. */
export function listDueIssues(db: Db, day: Day, afterId: number, limit: number) {
  return db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select(['issues.id', 'issues.project_id'])
    .where('issues.due_date', '=', day)
    .where('issues.id', '>', afterId)
    .where('issues.state', '=', 'opened')
    .where('projects.archived', '=', 0)
    .where('projects.pending_delete', '=', 0)
    .orderBy('issues.id')
    .limit(limit)
    .execute()
}
