import { z } from 'zod'
import { projectRecord } from '../../access/records.ts'
import type { Instant } from '../../base/clock.ts'
import { badRequest, invalid, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { addSystemNote } from '../../discussions/notes/verbs.ts'
import { endpoint } from '../../http/endpoint.ts'
import { filledText, id, instant, integer, oneOf } from '../../http/params.ts'
import { userBasicEntity } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import { changeSeverity } from '../../planning/issues/change-severity.ts'
import { issueEntity } from '../../planning/issues/entity.ts'
import { asNoteable, getIssue } from '../../planning/issues/find.ts'
import { presentIssue } from '../../planning/issues/present.ts'
import { inTransaction } from '../../store/transaction.ts'
import { onAlertOfIncident } from '../alerts/access.ts'
import { findAlertById } from '../alerts/queries.ts'
import { severities, statuses } from '../alerts/words.ts'
import { createIncident } from './create-incident.ts'
import { findEscalation, saveEscalation } from './queries.ts'
import { addTimelineEvent } from './timeline.ts'
import {
  deleteTimelineEvent,
  findTimelineEvent,
  listTimelineEvents,
  type TimelineEventRow,
  updateTimelineEvent,
} from './timeline-queries.ts'

export const createAlertIncident = endpoint({
  method: 'POST',
  path: '/projects/:id/alert_management_alerts/:alert_iid/incident',
  summary: 'Open an incident for an alert',
  access: onAlertOfIncident('update_alerts'),
  response: issueEntity,
  status: 201,
  async handler({ ctx, project, alert }) {
    const issue = await inTransaction(ctx, async (ctx) => {
      const row = await findAlertById(ctx.db, alert.id)
      if (!row) throw notFound('Alert')
      if (row.issue_id !== null) throw badRequest('An issue already exists')
      return await createIncident(ctx, project, row)
    })
    return await presentIssue(ctx, issue)
  },
})

/** The incident of `:issue_iid`; an issue of another type is none. */
const onIncident = projectRecord('read_issues', {
  params: { issue_iid: integer() },
  async find({ ctx, project, params }) {
    const issue = await getIssue(ctx, project, params.issue_iid)
    if (issue.issue_type !== 'incident') throw notFound()
    return { issue }
  },
})

const onTimelineEvent = projectRecord('read_issues', {
  params: { issue_iid: integer(), event_id: id() },
  async find({ ctx, project, params }) {
    const issue = await getIssue(ctx, project, params.issue_iid)
    const event = await findTimelineEvent(ctx.db, issue.id, params.event_id)
    if (!event || issue.issue_type !== 'incident') throw notFound()
    return { issue, event }
  },
})

const incidentEntity = z.strictObject({
  issue_iid: z.int(),
  severity: z.enum(severities),
  escalation_status: z.enum(statuses),
})

async function presentIncident(ctx: Ctx, issue: { id: number; iid: number; severity: string }) {
  const severity = severities.find((one) => one === issue.severity.toLowerCase()) ?? 'unknown'
  const status = (await findEscalation(ctx.db, issue.id))?.status ?? 'triggered'
  return { issue_iid: issue.iid, severity, escalation_status: status }
}

export const getIncident = endpoint({
  method: 'GET',
  path: '/projects/:id/issues/:issue_iid/incident',
  summary: 'Get the severity and the escalation status of an incident',
  access: onIncident(),
  response: incidentEntity,
  handler: ({ ctx, issue }) => presentIncident(ctx, issue),
})

export const changeIncident = endpoint({
  method: 'PUT',
  path: '/projects/:id/issues/:issue_iid/incident',
  summary: 'Change the severity or the escalation status of an incident',
  access: onIncident('update_issue'),
  body: {
    severity: oneOf(severities).optional(),
    escalation_status: oneOf(statuses).optional(),
  },
  response: incidentEntity,
  async handler({ ctx, project, issue, body }) {
    const { severity, escalation_status: status } = body
    const changed = await inTransaction(ctx, async (ctx) => {
      // Somebody else may have changed it a moment ago: what is so already is not recorded again.
      const row = await getIssue(ctx, project, issue.iid)
      const before = await presentIncident(ctx, row)
      const at = { occurredAt: ctx.now() }
      if (status !== undefined && status !== before.escalation_status) {
        await saveEscalation(ctx.db, issue.id, status, ctx.now())
        const text = `changed the incident status to **${status}**`
        await addSystemNote(ctx, asNoteable(ctx, project, issue), 'status', text)
        const note = `The status became **${status}**.`
        await addTimelineEvent(ctx, issue.id, { action: 'status', note, ...at })
      }
      if (severity === undefined || severity === before.severity) return row
      const note = `The severity became **${severity}**.`
      await addTimelineEvent(ctx, issue.id, { action: 'severity', note, ...at })
      return await changeSeverity(ctx, project, issue, severity.toUpperCase())
    })
    return await presentIncident(ctx, changed)
  },
})

const eventEntity = z.strictObject({
  id: z.int(),
  action: z.string(),
  note: z.string(),
  author: userBasicEntity.nullable(),
  occurred_at: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})

async function presentEvents(ctx: Ctx, rows: readonly TimelineEventRow[]) {
  const users = await usersById(
    ctx,
    rows.map((row) => row.author_id),
  )
  return rows.map(({ issue_id: _, author_id: author, ...row }) => ({
    ...row,
    author: users.get(author ?? 0) ?? null,
  }))
}

async function presentEvent(ctx: Ctx, row: TimelineEventRow) {
  const [event] = await presentEvents(ctx, [row])
  if (!event) throw notFound()
  return event
}

function assertPast(ctx: Pick<Ctx, 'now'>, occurredAt: Instant): void {
  if (occurredAt > ctx.now()) throw invalid({ occurred_at: ['is in the future'] })
}

const timeline = '/projects/:id/issues/:issue_iid/timeline_events'
const note = filledText({ max: 280 })

export const getTimelineEvents = endpoint({
  method: 'GET',
  path: timeline,
  summary: 'List the timeline of an incident',
  access: onIncident(),
  paginate: 'offset',
  response: z.array(eventEntity),
  async handler({ ctx, issue, page }) {
    const rows = await listTimelineEvents(ctx.db, issue.id, page)
    return { ...rows, items: await presentEvents(ctx, rows.items) }
  },
})

export const createTimelineEvent = endpoint({
  method: 'POST',
  path: timeline,
  summary: 'Add to the timeline of an incident',
  access: onIncident('update_issue'),
  body: { note, occurred_at: instant().optional() },
  response: eventEntity,
  status: 201,
  async handler({ ctx, issue, body }) {
    const occurredAt = body.occurred_at ?? ctx.now()
    assertPast(ctx, occurredAt)
    const input = { action: 'comment', note: body.note, occurredAt } as const
    return await presentEvent(ctx, await addTimelineEvent(ctx, issue.id, input))
  },
})

export const changeTimelineEvent = endpoint({
  method: 'PUT',
  path: `${timeline}/:event_id`,
  summary: 'Change an entry of the timeline of an incident',
  access: onTimelineEvent('update_issue'),
  body: { note: note.optional(), occurred_at: instant().optional() },
  response: eventEntity,
  async handler({ ctx, event, body }) {
    if (body.occurred_at !== undefined) assertPast(ctx, body.occurred_at)
    const changes = {
      ...(body.note === undefined ? {} : { note: body.note }),
      ...(body.occurred_at === undefined ? {} : { occurred_at: body.occurred_at }),
      updated_at: ctx.now(),
    }
    return await presentEvent(ctx, await updateTimelineEvent(ctx.db, event.id, changes))
  },
})

export const removeTimelineEvent = endpoint({
  method: 'DELETE',
  path: `${timeline}/:event_id`,
  summary: 'Remove an entry of the timeline of an incident',
  access: onTimelineEvent('update_issue'),
  handler: ({ ctx, event }) => deleteTimelineEvent(ctx.db, event.id),
})
