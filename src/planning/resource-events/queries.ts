import type { Insertable } from 'kysely'
import type { OffsetPage } from '../../base/page.ts'
import { listPage } from '../../store/pages.ts'
import type { ResourceEventsTable, Work } from '../../store/schema/issues.ts'
import type { Db } from '../../store/schema.ts'

export type EventKind = ResourceEventsTable['kind']

export async function insertResourceEvent(
  db: Db,
  event: Insertable<ResourceEventsTable>,
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

export async function listLabels(db: Db, ids: readonly number[]) {
  if (ids.length === 0) return []
  return db
    .selectFrom('labels')
    .select(['id', 'title', 'color', 'description'])
    .where('id', 'in', ids)
    .execute()
}
