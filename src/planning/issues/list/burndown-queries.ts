import { sql } from 'kysely'
import { seesIssue } from '../../../access/visible-issues.ts'
import type { Viewer } from '../../../access/visible-queries.ts'
import type { OffsetPage } from '../../../base/page.ts'
import { listPage } from '../../../store/pages.ts'
import type { Db } from '../../../store/schema.ts'

/** When the issues of a milestone that the viewer sees were made, closed and opened again, oldest first. */
export function listBurndownEvents(db: Db, viewer: Viewer, milestoneId: number, page: OffsetPage) {
  const issues = db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .where('issues.milestone_id', '=', milestoneId)
    .where('projects.pending_delete', '=', 0)
    .where(seesIssue(viewer))
  const made = issues
    .select(['issues.created_at', 'issues.weight'])
    .select(sql<string>`'created'`.as('action'))
    .select(sql<number>`0`.as('place'))
  const changed = issues
    .innerJoin('resource_events as e', (join) =>
      join
        .onRef('e.subject_id', '=', 'issues.id')
        .on('e.subject_type', '=', 'issue')
        .on('e.kind', '=', 'state'),
    )
    .select(['e.created_at', 'issues.weight'])
    .select(sql<string>`e.state`.as('action'))
    .select('e.id as place')
  const all = db
    .selectFrom(made.unionAll(changed).as('events'))
    .select(['events.created_at', 'events.weight', 'events.action'])
    .orderBy('events.created_at')
    .orderBy('events.place')
  return listPage(db, all, page)
}
