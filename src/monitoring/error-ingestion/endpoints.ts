import { z } from 'zod'
import { unsupportedType } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { parseJsonObject } from '../../http/body/json.ts'
import { endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { integer } from '../../http/params.ts'
import { readEvent } from '../errors/event.ts'
import { appendReports, type Report } from '../errors/report-writer.ts'
import { clientKey, type Reporter } from './client-key.ts'
import { MAX_EVENT, readEnvelope, unreadable } from './envelope.ts'
import { countAgainstQuota } from './quota.ts'

/** Largest envelope, unpacked. */
const MAX_ENVELOPE = 20 * 1024 * 1024

const report = {
  method: 'POST',
  status: 200,
  host: true,
  ownSignIn: true,
  raw: true,
  anyOrigin: true,
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
    const reports: Report[] = []
    // What else programs report (sessions, traces, their own statistics) is taken, and dropped.
    for (const { type, payload } of items) {
      if (type === 'event') reports.push(await reportOf(ctx, payload))
    }
    await record(ctx, { projectId, key }, reports)
    const id = reports[0]?.event.eventId ?? header.event_id
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
    const report = await reportOf(ctx, await request.payload())
    await record(ctx, { projectId, key }, [report])
    return { id: report.event.eventId }
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

async function reportOf(ctx: Ctx, payload: Buffer): Promise<Report> {
  if (payload.length === 0) throw unreadable()
  const receivedAt = ctx.now()
  const event = readEvent(await parseJsonObject(payload, ctx.config), receivedAt)
  return { event, payload, receivedAt }
}

async function record(ctx: Ctx, { projectId, key }: Reporter, reports: readonly Report[]) {
  if (reports.length === 0) return
  const bytes = reports.reduce((sum, { payload }) => sum + payload.length, 0)
  const { errorEventsPerMinute, errorBytesPerMinute } = ctx.config
  const most = { events: errorEventsPerMinute, bytes: errorBytesPerMinute }
  countAgainstQuota(key, { events: reports.length, bytes }, most, Date.parse(ctx.now()))
  await appendReports(ctx, projectId, reports)
}
