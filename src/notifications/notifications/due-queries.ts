import type { Day } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

/** Open issues that are due on a day, in projects where work goes on. */
export function listDueIssues(db: Db, day: Day) {
  return db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select(['issues.id', 'issues.project_id'])
    .where('issues.due_date', '=', day)
    .where('issues.state', '=', 'opened')
    .where('projects.archived', '=', 0)
    .where('projects.pending_delete', '=', 0)
    .orderBy('issues.id')
    .execute()
}
