import type { OffsetPage } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type TimelineEventRow = RowOf<'incident_timeline_events'>

export function listTimelineEvents(db: Db, issueId: number, page: OffsetPage) {
  const query = db.selectFrom('incident_timeline_events').selectAll()
  return listPage(
    db,
    query.where('issue_id', '=', issueId).orderBy('occurred_at').orderBy('id'),
    page,
  )
}

export function findTimelineEvent(db: Db, issueId: number, id: number) {
  return db
    .selectFrom('incident_timeline_events')
    .selectAll()
    .where('issue_id', '=', issueId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export function insertTimelineEvent(
  db: Db,
  row: NewRowOf<'incident_timeline_events'>,
): Promise<TimelineEventRow> {
  return db
    .insertInto('incident_timeline_events')
    .values(row)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export function updateTimelineEvent(
  db: Db,
  id: number,
  changes: ChangesOf<'incident_timeline_events'>,
): Promise<TimelineEventRow> {
  return db
    .updateTable('incident_timeline_events')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteTimelineEvent(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('incident_timeline_events').where('id', '=', id))
}
