import { gzipSync } from 'node:zlib'
import type { Instant } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import type { ReportedEvent } from './event.ts'
import {
  countHour,
  countPlace,
  countPlaces,
  deletePassing,
  type ErrorRow,
  findErrorByKey,
  insertError,
  insertEvents,
  insertUsers,
  type Place,
  thinEvents,
  updateError,
} from './queries.ts'
import { isSample, strideFor } from './sample.ts'
import { RESOLVED, UNRESOLVED } from './words.ts'

/** People of an error beyond this many are not told apart any more. */
const MOST_USERS = 10_000
/** Releases and environments of an error beyond this many are not counted by themselves. */
const MOST_PLACES = 100
const HOUR_MS = 3_600_000

/** Counts events of a project, in their order and in the caller's transaction, and keeps those that are to be kept. */
export async function recordBatch(
  ctx: Ctx,
  projectId: number,
  events: readonly ReportedEvent[],
): Promise<void> {
  const groups = new Map<string, ReportedEvent[]>()
  for (const event of events) {
    const key = JSON.stringify([event.name, event.actor, event.platform])
    const group = groups.get(key)
    if (group) group.push(event)
    else groups.set(key, [event])
  }
  for (const group of groups.values()) await recordGroup(ctx, projectId, group)
}

/** Events of one error. */
async function recordGroup(
  ctx: Ctx,
  projectId: number,
  events: readonly ReportedEvent[],
): Promise<void> {
  const [first] = events
  const last = events.at(-1)
  if (!first || !last) return
  const known =
    (await findErrorByKey(ctx.db, projectId, first)) ?? (await add(ctx, projectId, first))
  const total = known.events + events.length
  const stride = strideFor(total, known.stride)
  await keepSample(ctx, known, events, stride)
  await countPlacesOf(ctx, known, events)
  await countHour(ctx.db, known.id, Math.floor(Date.parse(ctx.now()) / HOUR_MS), events.length)
  await updateError(ctx.db, known.id, {
    events: total,
    users: known.users + (await countUsers(ctx, known, events)),
    description: last.description,
    level: last.level,
    logger: last.logger,
    first_seen: earliest([known.first_seen, ...events.map((event) => event.occurredAt)]),
    last_seen: latest([known.last_seen, ...events.map((event) => event.occurredAt)]),
    first_release: known.first_release ?? first.release,
    last_release: last.release ?? known.last_release,
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

/** The events of a sample, and the last one until another comes. */
async function keepSample(
  ctx: Ctx,
  known: ErrorRow,
  events: readonly ReportedEvent[],
  stride: number,
): Promise<void> {
  const total = known.events + events.length
  const rows = events.flatMap((event, index) => {
    const number = known.events + index + 1
    const kept = isSample(number, stride)
    return kept || number === total ? [rowOf(ctx, known.id, event, number, kept)] : []
  })
  await deletePassing(ctx.db, known.id, total)
  await insertEvents(ctx.db, rows)
  if (stride !== known.stride) await thinEvents(ctx.db, known.id, stride, total)
}

function rowOf(ctx: Ctx, errorId: number, event: ReportedEvent, number: number, kept: boolean) {
  return {
    error_id: errorId,
    number,
    kept,
    event_id: event.eventId,
    occurred_at: event.occurredAt,
    received_at: ctx.now(),
    level: event.level,
    environment: event.environment,
    release: event.release,
    description: event.description,
    payload: gzipSync(event.payload, { level: 1 }),
  }
}

async function countUsers(
  ctx: Ctx,
  known: ErrorRow,
  events: readonly ReportedEvent[],
): Promise<number> {
  const hashes = new Map<string, Buffer>()
  for (const { userHash } of events) if (userHash) hashes.set(userHash.toString('hex'), userHash)
  const room = Math.max(0, MOST_USERS - known.users)
  return await insertUsers(ctx.db, known.id, [...hashes.values()].slice(0, room))
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

function earliest(moments: readonly Instant[]): Instant {
  return moments.reduce((one, other) => (one < other ? one : other))
}

function latest(moments: readonly Instant[]): Instant {
  return moments.reduce((one, other) => (one > other ? one : other))
}
