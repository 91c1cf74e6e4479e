import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import { type Key, pageByKey } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'
import { matchesSearch } from '../../store/search.ts'

export type ErrorRow = RowOf<'errors'>
export type ErrorEventRow = RowOf<'error_events'>

export interface ErrorKey {
  readonly name: string
  readonly actor: string
  readonly platform: string
}

export type ErrorColumn = 'last_seen' | 'first_seen' | 'events'

export interface ErrorFilter {
  readonly status: number
  readonly search?: string | undefined
}

export function listErrors(
  db: Db,
  projectId: number,
  filter: ErrorFilter,
  order: ErrorColumn,
  range: { readonly limit: number; readonly after?: Key | undefined },
) {
  let query = db
    .selectFrom('errors')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('status', '=', filter.status)
  for (const word of matchesSearch(filter.search ?? '', ['name', 'description', 'actor'])) {
    query = query.where(word)
  }
  return pageByKey(
    query,
    {
      column: order,
      id: 'id',
      direction: 'desc',
      keyOf: (row) => ({ value: row[order], id: row.id }),
    },
    range,
  )
}

export function findError(db: Db, projectId: number, id: number): Promise<ErrorRow | undefined> {
  return db
    .selectFrom('errors')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export function insertError(db: Db, row: NewRowOf<'errors'>): Promise<ErrorRow> {
  return db.insertInto('errors').values(row).returningAll().executeTakeFirstOrThrow()
}

export function updateError(db: Db, id: number, changes: ChangesOf<'errors'>): Promise<ErrorRow> {
  return db
    .updateTable('errors')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Keeps an event, in the place of another where one is given. */
export async function keepEvent(
  db: Db,
  place: number | null,
  event: NewRowOf<'error_events'>,
): Promise<void> {
  const { error_id, number, event_id, received_at, payload } = event
  await sql`
    INSERT INTO error_events (id, error_id, number, event_id, received_at, payload)
    VALUES (${place}, ${error_id}, ${number}, ${event_id}, ${received_at}, ${payload})
    ON CONFLICT (id) DO UPDATE SET number = excluded.number, event_id = excluded.event_id,
      received_at = excluded.received_at, payload = excluded.payload`.execute(db)
}

export function listEvents(
  db: Db,
  errorId: number,
  range: { limit: number; after?: Key | undefined },
) {
  const query = db.selectFrom('error_events').selectAll().where('error_id', '=', errorId)
  return pageByKey(
    query,
    {
      column: 'number',
      id: 'id',
      direction: 'desc',
      keyOf: (row) => ({ value: row.number, id: row.id }),
    },
    range,
  )
}

export function findLatestEvent(db: Db, errorId: number): Promise<ErrorEventRow | undefined> {
  return db
    .selectFrom('error_events')
    .selectAll()
    .where('error_id', '=', errorId)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** The events of errors by hour, since an hour. */
export function listHours(db: Db, errorIds: readonly number[], since: number) {
  return db
    .selectFrom('error_hours')
    .selectAll()
    .where('error_id', 'in', errorIds)
    .where('hour', '>=', since)
    .orderBy('hour')
    .execute()
}

export function listPlaces(db: Db, errorId: number) {
  return db
    .selectFrom('error_places')
    .select(['release', 'environment', 'events', 'first_seen', 'last_seen'])
    .where('error_id', '=', errorId)
    .orderBy('last_seen', 'desc')
    .execute()
}

export function findIssueOf(db: Db, issueId: number) {
  return db.selectFrom('issues').select(['id', 'iid']).where('id', '=', issueId).executeTakeFirst()
}

/** Deletes what was received before a moment, some at a time; says whether there may be more. */
export async function deleteOldEvents(db: Db, before: Instant, most: number): Promise<boolean> {
  const old = db
    .selectFrom('error_events')
    .select('id')
    .where('received_at', '<', before)
    .limit(most)
  const deleted = await db.deleteFrom('error_events').where('id', 'in', old).executeTakeFirst()
  return deleted.numDeletedRows === BigInt(most)
}

export async function deleteOldErrors(db: Db, before: Instant, most: number): Promise<boolean> {
  const old = db.selectFrom('errors').select('id').where('last_seen', '<', before).limit(most)
  const deleted = await db.deleteFrom('errors').where('id', 'in', old).executeTakeFirst()
  return deleted.numDeletedRows === BigInt(most)
}

export async function deleteOldHours(db: Db, before: number): Promise<void> {
  await db.deleteFrom('error_hours').where('hour', '<', before).execute()
}
