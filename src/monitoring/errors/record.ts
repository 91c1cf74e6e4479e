import type { Instant } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import {
  addToHours,
  addToKnownPlaces,
  addToPlaces,
  addUsers,
  countPlaces,
  type ErrorCounts,
  findErrorsByKeys,
  type Hour,
  listFreeRows,
  type Place,
  updateCounts,
} from './count-queries.ts'
import type { ReportedEvent } from './event.ts'
import { type ErrorKey, type ErrorRow, insertError, keepEvent } from './queries.ts'
import { isSample, strideFor } from './sample.ts'
import { RESOLVED, UNRESOLVED } from './words.ts'

/** People of an error beyond this many are not counted one by one any more. */
const MOST_USERS = 10_000
/** Releases and environments of an error beyond this many are not counted by themselves. */
const MOST_PLACES = 100
const HOUR_MS = 3_600_000

/** An event that is to be counted; its packed payload is asked for only where it is kept. */
export interface Arrival {
  readonly event: ReportedEvent
  readonly receivedAt: Instant
  payload(): Promise<Buffer>
}

/** The events of one error. */
interface Group {
  readonly error: ErrorRow
  readonly arrivals: readonly Arrival[]
  /** Events of the error with these. */
  readonly total: number
  readonly stride: number
}

/**
 * Counts events of a project, in their order and in the caller's transaction, and keeps those that are to be kept. A
 * statement is for all errors of the batch: in a storm these are many, with an event or two each.
 */
export async function recordBatch(
  ctx: Ctx,
  projectId: number,
  arrivals: readonly Arrival[],
): Promise<void> {
  const groups = await groupsOf(ctx, projectId, arrivals)
  if (groups.length === 0) return
  await keepSamples(ctx, groups)
  await addPlaces(ctx, groups)
  await addToHours(ctx.db, groups.flatMap(hoursOf))
  const users = await addUsers(ctx.db, groups.flatMap(usersOf))
  await updateCounts(
    ctx.db,
    groups.map((group) => countsOf(group, users.get(group.error.id) ?? 0)),
  )
}

async function groupsOf(
  ctx: Ctx,
  projectId: number,
  arrivals: readonly Arrival[],
): Promise<Group[]> {
  const byKey = new Map<string, { readonly first: ReportedEvent; readonly arrivals: Arrival[] }>()
  for (const arrival of arrivals) {
    const key = keyOf(arrival.event)
    const group = byKey.get(key)
    if (group) group.arrivals.push(arrival)
    else byKey.set(key, { first: arrival.event, arrivals: [arrival] })
  }
  const events = [...byKey.values()].map(({ first }) => first)
  const rows = await findErrorsByKeys(ctx.db, projectId, events)
  const known = new Map(rows.map((row) => [keyOf(row), row]))
  const groups: Group[] = []
  for (const [key, { first, arrivals }] of byKey) {
    const error = known.get(key) ?? (await add(ctx, projectId, first))
    const total = error.events + arrivals.length
    groups.push({ error, arrivals, total, stride: strideFor(total, error.stride) })
  }
  return groups
}

/** Identifies errors of a project. */
function keyOf({ name, actor, platform }: ErrorKey): string {
  return JSON.stringify([name, actor, platform])
}

function add(ctx: Ctx, projectId: number, event: ReportedEvent): Promise<ErrorRow> {
  return insertError(ctx.db, {
    project_id: projectId,
    name: event.name,
    actor: event.actor,
    platform: event.platform,
    description: event.description,
    events: 0,
    users: 0,
    first_seen: event.occurredAt,
    last_seen: event.occurredAt,
    stride: 1,
  })
}

/**
 * The events of a sample, and the last one until another comes. They take the rows of events that are no part of the
 * sample any more: an error has at most so many rows, which stay where they are.
 */
async function keepSamples(ctx: Ctx, groups: readonly Group[]): Promise<void> {
  const free = await listFreeRows(
    ctx.db,
    groups.map(({ error, stride }) => [error.id, stride]),
  )
  const kept = groups.flatMap((group) => keptOf(group, free.get(group.error.id) ?? []))
  for (const { arrival, place, row } of kept) {
    await keepEvent(ctx.db, place, { ...row, payload: await arrival.payload() })
  }
}

function keptOf({ error, arrivals, total, stride }: Group, places: readonly number[]) {
  return arrivals
    .map((arrival, index) => ({ arrival, number: error.events + index + 1 }))
    .filter(({ number }) => number === total || isSample(number, stride))
    .map(({ arrival, number }, index) => ({
      arrival,
      place: places[index] ?? null,
      row: {
        error_id: error.id,
        number,
        event_id: arrival.event.eventId,
        received_at: arrival.receivedAt,
      },
    }))
}

async function addPlaces(ctx: Ctx, groups: readonly Group[]): Promise<void> {
  const ids = groups.map(({ error }) => error.id)
  const counted = await countPlaces(ctx.db, ids)
  const some: Place[] = []
  const full: Place[] = []
  for (const group of groups) {
    const places = placesOf(group)
    const mayAdd = (counted.get(group.error.id) ?? 0) + places.length <= MOST_PLACES
    for (const place of places) (mayAdd ? some : full).push(place)
  }
  await addToPlaces(ctx.db, some)
  for (const place of full) await addToKnownPlaces(ctx.db, place)
}

function placesOf({ error, arrivals }: Group): Place[] {
  const places = new Map<string, Place>()
  for (const { event } of arrivals) {
    const release = event.release ?? ''
    const environment = event.environment ?? ''
    const key = JSON.stringify([release, environment])
    const before = places.get(key)
    places.set(key, {
      error_id: error.id,
      release,
      environment,
      events: (before?.events ?? 0) + 1,
      first_seen: before?.first_seen ?? event.occurredAt,
      last_seen: event.occurredAt,
    })
  }
  return [...places.values()]
}

function hoursOf({ error, arrivals }: Group): Hour[] {
  const hours = new Map<number, number>()
  for (const { receivedAt } of arrivals) {
    const hour = Math.floor(Date.parse(receivedAt) / HOUR_MS)
    hours.set(hour, (hours.get(hour) ?? 0) + 1)
  }
  return [...hours].map(([hour, events]) => ({ error_id: error.id, hour, events }))
}

function usersOf({ error, arrivals }: Group): [errorId: number, hash: string][] {
  const hashes = new Set(arrivals.flatMap(({ event }) => event.userHash ?? []))
  const room = Math.max(0, MOST_USERS - error.users)
  return [...hashes].slice(0, room).map((hash) => [error.id, hash])
}

function countsOf({ error, arrivals, total, stride }: Group, newUsers: number): ErrorCounts {
  const events = arrivals.map(({ event }) => event)
  const last = events.at(-1)
  const times = events.map(({ occurredAt }) => occurredAt)
  return {
    id: error.id,
    events: total,
    users: error.users + newUsers,
    stride,
    description: last?.description ?? error.description,
    level: last?.level ?? null,
    logger: last?.logger ?? null,
    first_seen: earliest([error.first_seen, ...times]),
    last_seen: latest([error.last_seen, ...times]),
    first_release: error.first_release ?? events.find(isReleased)?.release ?? null,
    last_release: events.findLast(isReleased)?.release ?? error.last_release,
    status: isAgain(error, arrivals) ? UNRESOLVED : error.status,
  }
}

/** What was resolved and happens again is not; what had come before and is counted now says nothing of that. */
function isAgain({ status, resolved_at: at }: ErrorRow, arrivals: readonly Arrival[]): boolean {
  return status === RESOLVED && arrivals.some(({ receivedAt }) => at === null || receivedAt > at)
}

function isReleased({ release }: ReportedEvent): boolean {
  return release !== null
}

function earliest(moments: readonly Instant[]): Instant {
  return moments.reduce((one, other) => (one < other ? one : other))
}

function latest(moments: readonly Instant[]): Instant {
  return moments.reduce((one, other) => (one > other ? one : other))
}
