import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db, RowOf } from '../../store/schema.ts'
import type { ErrorKey, ErrorRow } from './queries.ts'

/*
 * Statements for all errors of a batch of events: what differs from one to the next goes in as one list of JSON.
 */

export async function findErrorsByKeys(
  db: Db,
  projectId: number,
  keys: readonly ErrorKey[],
): Promise<ErrorRow[]> {
  const list = JSON.stringify(keys.map(({ name, actor, platform }) => [name, actor, platform]))
  const { rows } = await sql<ErrorRow>`
    SELECT errors.* FROM json_each(${list}) AS given CROSS JOIN errors
    ON errors.project_id = ${projectId} AND errors.name = given.value->>0
      AND errors.actor = given.value->>1 AND errors.platform = given.value->>2`.execute(db)
  return rows
}

/**
 * Rows of errors whose events are no part of their sample: the last event that came, and those left from a denser one.
 */
export async function listFreeRows(
  db: Db,
  strides: readonly (readonly [errorId: number, stride: number])[],
): Promise<Map<number, number[]>> {
  const { rows } = await sql<{ id: number; error_id: number }>`
    SELECT kept.id, kept.error_id FROM json_each(${JSON.stringify(strides)}) AS given
    CROSS JOIN error_events AS kept ON kept.error_id = given.value->>0
    WHERE kept.number <> 1 AND kept.number % (given.value->>1) <> 0
    ORDER BY kept.error_id, kept.number`.execute(db)
  const free = new Map<number, number[]>()
  for (const { id, error_id } of rows) {
    const ids = free.get(error_id)
    if (ids) ids.push(id)
    else free.set(error_id, [id])
  }
  return free
}

/** How many releases and environments errors have. */
export async function countPlaces(
  db: Db,
  errorIds: readonly number[],
): Promise<Map<number, number>> {
  const { rows } = await sql<{ error_id: number; count: number }>`
    SELECT error_id, count(*) AS count FROM error_places
    WHERE error_id IN (SELECT value FROM json_each(${JSON.stringify(errorIds)}))
    GROUP BY error_id`.execute(db)
  return new Map(rows.map(({ error_id, count }) => [error_id, count]))
}

export type Place = RowOf<'error_places'>

/** Counts events of releases in environments. */
export async function addToPlaces(db: Db, places: readonly Place[]): Promise<void> {
  const list = places.map((one) => [
    one.error_id,
    one.release,
    one.environment,
    one.events,
    one.first_seen,
    one.last_seen,
  ])
  await sql`
    INSERT INTO error_places (error_id, release, environment, events, first_seen, last_seen)
    SELECT value->>0, value->>1, value->>2, value->>3, value->>4, value->>5
    FROM json_each(${JSON.stringify(list)}) WHERE true
    ON CONFLICT (error_id, release, environment) DO UPDATE
    SET events = events + excluded.events,
      last_seen = max(last_seen, excluded.last_seen)`.execute(db)
}

/** As `addToPlaces`, where there is no room for one that is not known. */
export async function addToKnownPlaces(db: Db, place: Place): Promise<void> {
  await db
    .updateTable('error_places')
    .set((eb) => ({
      events: eb('events', '+', place.events),
      last_seen: sql<Instant>`max(last_seen, ${place.last_seen})`,
    }))
    .where('error_id', '=', place.error_id)
    .where('release', '=', place.release)
    .where('environment', '=', place.environment)
    .execute()
}

export interface Hour {
  readonly error_id: number
  readonly hour: number
  readonly events: number
}

export async function addToHours(db: Db, hours: readonly Hour[]): Promise<void> {
  const list = hours.map(({ error_id, hour, events }) => [error_id, hour, events])
  await sql`
    INSERT INTO error_hours (error_id, hour, events)
    SELECT value->>0, value->>1, value->>2 FROM json_each(${JSON.stringify(list)}) WHERE true
    ON CONFLICT (error_id, hour) DO UPDATE SET events = events + excluded.events`.execute(db)
}

/** Adds people whom errors met, by their digests in hex; gives how many are new to each error. */
export async function addUsers(
  db: Db,
  users: readonly (readonly [errorId: number, hash: string])[],
): Promise<Map<number, number>> {
  const { rows } = await sql<{ error_id: number }>`
    INSERT INTO error_users (error_id, user_hash)
    SELECT value->>0, unhex(value->>1) FROM json_each(${JSON.stringify(users)}) WHERE true
    ON CONFLICT DO NOTHING RETURNING error_id`.execute(db)
  const added = new Map<number, number>()
  for (const { error_id } of rows) added.set(error_id, (added.get(error_id) ?? 0) + 1)
  return added
}

/** What events change of an error. */
export type ErrorCounts = Pick<
  RowOf<'errors'>,
  | 'id'
  | 'events'
  | 'users'
  | 'stride'
  | 'status'
  | 'description'
  | 'level'
  | 'logger'
  | 'first_seen'
  | 'last_seen'
  | 'first_release'
  | 'last_release'
>

export async function updateCounts(db: Db, counts: readonly ErrorCounts[]): Promise<void> {
  await sql`
    UPDATE errors SET events = given.value->>'events', users = given.value->>'users',
      stride = given.value->>'stride', status = given.value->>'status',
      description = given.value->>'description', level = given.value->>'level',
      logger = given.value->>'logger', first_seen = given.value->>'first_seen',
      last_seen = given.value->>'last_seen', first_release = given.value->>'first_release',
      last_release = given.value->>'last_release'
    FROM json_each(${JSON.stringify(counts)}) AS given
    WHERE errors.id = given.value->>'id'`.execute(db)
}
