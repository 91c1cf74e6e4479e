import { Role } from '../../access/roles.ts'
import { seesFeature, type Viewer } from '../../access/visible-queries.ts'
import type { OffsetPage } from '../../base/page.ts'
import { listPage } from '../../store/pages.ts'
import type { Work } from '../../store/schema/issues.ts'
import type { Db, NewRowOf, Schema } from '../../store/schema.ts'

export type EventKind = Schema['resource_events']['kind']

export async function insertResourceEvent(
  db: Db,
  event: NewRowOf<'resource_events'>,
): Promise<void> {
  await db.insertInto('resource_events').values(event).execute()
}

/** Nothing here has iterations: of them there are no events. */
type Asked = EventKind | 'iteration'

function eventsOf(db: Db, kind: Asked, type: Work, subjectId: number) {
  return db
    .selectFrom('resource_events')
    .selectAll()
    .where('kind', 'in', kind === 'iteration' ? [] : [kind])
    .where('subject_type', '=', type)
    .where('subject_id', '=', subjectId)
}

export function listResourceEvents(
  db: Db,
  kind: Asked,
  type: Work,
  subjectId: number,
  page: OffsetPage,
) {
  return listPage(db, eventsOf(db, kind, type, subjectId).orderBy('id'), page)
}

export function findResourceEvent(db: Db, kind: Asked, type: Work, subjectId: number, id: number) {
  return eventsOf(db, kind, type, subjectId).where('id', '=', id).executeTakeFirst()
}

/** The merge requests that closed something, as far as the viewer sees them. */
export async function listClosingRequests(db: Db, viewer: Viewer, ids: readonly number[]) {
  if (ids.length === 0) return []
  return db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.target_project_id')
    .select([
      'merge_requests.id',
      'merge_requests.iid',
      'merge_requests.target_project_id',
      'merge_requests.title',
      'merge_requests.state',
      'projects.full_path',
    ])
    .where('merge_requests.id', 'in', ids)
    .where('projects.pending_delete', '=', 0)
    .where(seesFeature(viewer, 'merge_requests', Role.planner))
    .execute()
}
