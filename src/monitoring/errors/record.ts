import type { Instant } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import type { ReportedEvent } from './event.ts'
import {
  countHour,
  countPlace,
  countPlaces,
  type ErrorRow,
  findErrorByKey,
  insertError,
  insertEvent,
  insertUsers,
  listFreeRows,
  type Place,
  replaceEvent,
  updateError,
} from './queries.ts'
import { isSample, strideFor } from './sample.ts'
import { RESOLVED, UNRESOLVED } from './words.ts'

/** People of an error beyond this many are not told apart any more. */
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

/** Counts events of a project, in their order and in the caller's transaction, and keeps those that are to be kept. */
export async function recordBatch(
  ctx: Ctx,
  projectId: number,
  arrivals: readonly Arrival[],
): Promise<void> {
  const groups = new Map<string, Arrival[]>()
  for (const arrival of arrivals) {
    const { name, actor, platform } = arrival.event
    const key = JSON.stringify([name, actor, platform])
    const group = groups.get(key)
    if (group) group.push(arrival)
    else groups.set(key, [arrival])
  }
  for (const group of groups.values()) await recordGroup(ctx, projectId, group)
}

/** Events of one error. */
async function recordGroup(
  ctx: Ctx,
  projectId: number,
  arrivals: readonly Arrival[],
): Promise<void> {
  const events = arrivals.map(({ event }) => event)
  const [first] = events
  const last = events.at(-1)
  if (!first || !last) return
  const known =
    (await findErrorByKey(ctx.db, projectId, first)) ?? (await add(ctx, projectId, first))
  const total = known.events + events.length
  const stride = strideFor(total, known.stride)
  await keepSample(ctx, known, arrivals, stride)
  await countPlacesOf(ctx, known, events)
  await countHours(ctx, known, arrivals)
  await updateError(ctx.db, known.id, {
    events: total,
    users: known.users + (await countUsers(ctx, known, events)),
    description: last.description,
    level: last.level,
    logger: last.logger,
    first_seen: earliest([known.first_seen, ...events.map((event) => event.occurredAt)]),
    last_seen: latest([known.last_seen, ...events.map((event) => event.occurredAt)]),
    first_release: known.first_release ?? events.find(isReleased)?.release ?? null,
    last_release: events.findLast(isReleased)?.release ?? known.last_release,
    stride,
    // What was resolved and happens again is not.
    ...(known.status === RESOLVED ? { status: UNRESOLVED } : {}),
  })
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
async function keepSample(
  ctx: Ctx,
  known: ErrorRow,
  arrivals: readonly Arrival[],
  stride: number,
): Promise<void> {
  const total = known.events + arrivals.length
  const kept = arrivals
    .map((arrival, index) => ({ arrival, number: known.events + index + 1 }))
    .filter(({ number }) => number === total || isSample(number, stride))
  const free = await listFreeRows(ctx.db, known.id, stride, kept.length)
  for (const { arrival, number } of kept) {
    const row = {
      error_id: known.id,
      number,
      event_id: arrival.event.eventId,
      received_at: arrival.receivedAt,
      payload: await arrival.payload(),
    }
    const place = free.shift()
    if (place === undefined) await insertEvent(ctx.db, row)
    else await replaceEvent(ctx.db, place, row)
  }
}

async function countHours(ctx: Ctx, known: ErrorRow, arrivals: readonly Arrival[]): Promise<void> {
  const hours = new Map<number, number>()
  for (const { receivedAt } of arrivals) {
    const hour = Math.floor(Date.parse(receivedAt) / HOUR_MS)
    hours.set(hour, (hours.get(hour) ?? 0) + 1)
  }
  for (const [hour, events] of hours) await countHour(ctx.db, known.id, hour, events)
}

async function countUsers(
  ctx: Ctx,
  known: ErrorRow,
  events: readonly ReportedEvent[],
): Promise<number> {
  const hashes = new Set(events.flatMap(({ userHash }) => userHash ?? []))
  const room = Math.max(0, MOST_USERS - known.users)
  return await insertUsers(ctx.db, known.id, [...hashes].slice(0, room))
}

async function countPlacesOf(
  ctx: Ctx,
  known: ErrorRow,
  events: readonly ReportedEvent[],
): Promise<void> {
  const places = new Map<string, Place>()
  for (const event of events) {
    const release = event.release ?? ''
    const environment = event.environment ?? ''
    const key = JSON.stringify([release, environment])
    const before = places.get(key)
    places.set(key, {
      release,
      environment,
      events: (before?.events ?? 0) + 1,
      first_seen: before?.first_seen ?? event.occurredAt,
      last_seen: event.occurredAt,
    })
  }
  const mayAdd = (await countPlaces(ctx.db, known.id)) + places.size <= MOST_PLACES
  for (const place of places.values()) await countPlace(ctx.db, known.id, place, mayAdd)
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
