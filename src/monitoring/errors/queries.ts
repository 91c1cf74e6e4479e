import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import { type Key, pageByKey } from '../../store/pages.ts'
import type { ErrorEventsTable, ErrorsTable } from '../../store/schema/errors.ts'
import type { Db } from '../../store/schema.ts'
import { matchesSearch } from '../../store/search.ts'

export type ErrorRow = Selectable<ErrorsTable>
export type ErrorEventRow = Selectable<ErrorEventsTable>

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

export function findErrorByKey(
  db: Db,
  projectId: number,
  key: ErrorKey,
): Promise<ErrorRow | undefined> {
  return db
    .selectFrom('errors')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('name', '=', key.name)
    .where('actor', '=', key.actor)
    .where('platform', '=', key.platform)
    .executeTakeFirst()
}

export function insertError(db: Db, row: Insertable<ErrorsTable>): Promise<ErrorRow> {
  return db.insertInto('errors').values(row).returningAll().executeTakeFirstOrThrow()
}

export function updateError(
  db: Db,
  id: number,
  changes: Updateable<ErrorsTable>,
): Promise<ErrorRow> {
  return db
    .updateTable('errors')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Adds people whom an error met; gives how many are new. */
export async function insertUsers(
  db: Db,
  errorId: number,
  hashes: readonly string[],
): Promise<number> {
  if (hashes.length === 0) return 0
  const added = await db
    .insertInto('error_users')
    .values(hashes.map((hash) => ({ error_id: errorId, user_hash: Buffer.from(hash, 'hex') })))
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return Number(added.numInsertedOrUpdatedRows ?? 0n)
}

export interface Place {
  readonly release: string
  readonly environment: string
  readonly events: number
  readonly first_seen: Instant
  readonly last_seen: Instant
}

/** Counts events of a release in an environment; `mayAdd` says whether there is room for one that is not known. */
export async function countPlace(
  db: Db,
  errorId: number,
  place: Place,
  mayAdd: boolean,
): Promise<void> {
  if (!mayAdd) {
    await db
      .updateTable('error_places')
      .set((eb) => ({
        events: eb('events', '+', place.events),
        last_seen: sql<Instant>`max(last_seen, ${place.last_seen})`,
      }))
      .where('error_id', '=', errorId)
      .where('release', '=', place.release)
      .where('environment', '=', place.environment)
      .execute()
    return
  }
  await db
    .insertInto('error_places')
    .values({ ...place, error_id: errorId })
    .onConflict((conflict) =>
      conflict.columns(['error_id', 'release', 'environment']).doUpdateSet((eb) => ({
        events: sql<number>`error_places.events + ${eb.ref('excluded.events')}`,
        last_seen: sql<Instant>`max(error_places.last_seen, ${eb.ref('excluded.last_seen')})`,
      })),
    )
    .execute()
}

export async function countPlaces(db: Db, errorId: number): Promise<number> {
  const row = await db
    .selectFrom('error_places')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('error_id', '=', errorId)
    .executeTakeFirst()
  return row?.count ?? 0
}

export async function countHour(
  db: Db,
  errorId: number,
  hour: number,
  events: number,
): Promise<void> {
  await db
    .insertInto('error_hours')
    .values({ error_id: errorId, hour, events })
    .onConflict((conflict) =>
      conflict
        .columns(['error_id', 'hour'])
        .doUpdateSet((eb) => ({ events: sql`error_hours.events + ${eb.ref('excluded.events')}` })),
    )
    .execute()
}

/** Rows of an error whose events are no part of its sample: the last event that came, and those left from a denser one. */
export async function listFreeRows(
  db: Db,
  errorId: number,
  stride: number,
  most: number,
): Promise<number[]> {
  const rows = await db
    .selectFrom('error_events')
    .select('id')
    .where('error_id', '=', errorId)
    .where(sql<boolean>`number <> 1 AND number % ${stride} <> 0`)
    .orderBy('number')
    .limit(most)
    .execute()
  return rows.map((row) => row.id)
}

export async function insertEvent(db: Db, row: Insertable<ErrorEventsTable>): Promise<void> {
  await db.insertInto('error_events').values(row).execute()
}

/** Puts an event in the place of another. */
export async function replaceEvent(
  db: Db,
  id: number,
  row: Insertable<ErrorEventsTable>,
): Promise<void> {
  await db.updateTable('error_events').set(row).where('id', '=', id).execute()
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
