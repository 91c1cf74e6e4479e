import { z } from 'zod'
import { unsupportedType } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { parseJsonObject } from '../../http/body/json.ts'
import { endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { integer } from '../../http/params.ts'
import { type ReportedEvent, readEvent } from '../errors/event.ts'
import { recordEvent } from '../errors/event-writer.ts'
import { clientKey, type Reporter } from './client-key.ts'
import { MAX_EVENT, readEnvelope, unreadable } from './envelope.ts'
import { countAgainstQuota } from './quota.ts'

/** Largest envelope, unpacked. */
const MAX_ENVELOPE = 20 * 1024 * 1024

const report = {
  method: 'POST',
  host: true,
  ownSignIn: true,
  raw: true,
  anyOrigin: true,
  tags: ['error tracking'],
  access: clientKey(),
  params: { project_id: integer() },
  response: z.strictObject({ id: z.string().optional() }),
} as const

export const takeEnvelope = endpoint({
  ...report,
  path: '/errortracking/api/v1/projects/api/:project_id/envelope',
  summary: 'Take the envelope of an error reporting program in',
  maxBody: MAX_ENVELOPE,
  async handler({ ctx, projectId, key, request }) {
    assertType(request, ['application/x-sentry-envelope', 'text/plain', 'application/json'])
    const { header, items } = readEnvelope(await request.payload())
    const events: ReportedEvent[] = []
    // What else programs report (sessions, traces, their own statistics) is taken, and dropped.
    for (const { type, payload } of items) {
      if (type === 'event') events.push(await eventOf(ctx, payload))
    }
    await record(ctx, { projectId, key }, events)
    const id = events[0]?.eventId ?? header.event_id
    return typeof id === 'string' ? { id: id.slice(0, 64) } : {}
  },
})

export const takeStore = endpoint({
  ...report,
  path: '/errortracking/api/v1/projects/api/:project_id/store',
  summary: 'Take a single event of an error reporting program in',
  maxBody: MAX_EVENT,
  async handler({ ctx, projectId, key, request }) {
    assertType(request, ['application/json', 'text/plain'])
    const event = await eventOf(ctx, await request.payload())
    await record(ctx, { projectId, key }, [event])
    return { id: event.eventId }
  },
})

/** A body of another type, and none at all, are different things. */
function assertType({ headers }: RequestFacts, types: readonly string[]): void {
  const type =
    String(headers['content-type'] ?? '')
      .split(';', 1)[0]
      ?.trim()
      .toLowerCase() ?? ''
  if (type !== '' && !types.includes(type)) throw unsupportedType(type)
}

async function eventOf(ctx: Ctx, payload: Buffer): Promise<ReportedEvent> {
  if (payload.length === 0) throw unreadable()
  return readEvent(await parseJsonObject(payload, ctx.config), payload, ctx.now())
}

async function record(ctx: Ctx, reporter: Reporter, events: readonly ReportedEvent[]) {
  const { projectId, key } = reporter
  const most = ctx.config.errorEventsPerMinute
  countAgainstQuota(key, events.length, most, Date.parse(ctx.now()))
  await Promise.all(events.map((event) => recordEvent(ctx, projectId, event)))
}
