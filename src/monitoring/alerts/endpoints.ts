import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { csv, integer, list, oneOf, text } from '../../http/params.ts'
import { onAlert } from './access.ts'
import { changeAlert } from './change-alert.ts'
import { alertDetailEntity, alertEntity, presentAlert, presentAlerts } from './entity.ts'
import {
  type AlertColumn,
  type AlertFilter,
  type AlertOrder,
  countAlertStatuses,
  listAlerts,
} from './queries.ts'
import { type AlertStatus, placeOf, statuses } from './words.ts'

/** The words of `sort`, and whether "descending" means that small places come first: critical before info. */
const columns: Readonly<Record<string, { column: AlertColumn; turned?: true }>> = {
  started_at: { column: 'started_at' },
  ended_at: { column: 'ended_at' },
  created_at: { column: 'created_at' },
  updated_at: { column: 'updated_at' },
  event_count: { column: 'events' },
  severity: { column: 'severity', turned: true },
  status: { column: 'status', turned: true },
}
const sorts = Object.keys(columns).flatMap((name) => [`${name}_asc`, `${name}_desc`])

function orderOf(sort: string): AlertOrder {
  const found = /^(.*)_(asc|desc)$/.exec(sort)
  const { column, turned } = columns[found?.[1] ?? ''] ?? { column: 'started_at' as const }
  const rises = (found?.[2] === 'asc') !== (turned ?? false)
  return { column, direction: rises ? 'asc' : 'desc' }
}

const filters = {
  status: list(oneOf(statuses)).optional(),
  search: text({ max: 500 }).optional(),
  assignee_username: text({ max: 255 }).optional(),
  iid: integer().optional(),
}

interface AskedFilter {
  readonly status?: readonly AlertStatus[] | undefined
  readonly search?: string | undefined
  readonly assignee_username?: string | undefined
  readonly iid?: number | undefined
}

function filterOf(query: AskedFilter): AlertFilter {
  return {
    statuses: query.status?.map((word) => placeOf(statuses, word)),
    search: query.search,
    assignee: query.assignee_username,
    iid: query.iid,
  }
}

export const getAlerts = endpoint({
  method: 'GET',
  path: '/projects/:id/alert_management_alerts',
  summary: 'List the alerts of a project',
  access: onProject('read_alerts'),
  query: { ...filters, sort: oneOf(sorts).default('started_at_desc') },
  paginate: 'offset',
  response: z.array(alertEntity),
  async handler({ ctx, project, query, page }) {
    const rows = await listAlerts(ctx.db, project.id, filterOf(query), orderOf(query.sort), page)
    return { ...rows, items: await presentAlerts(ctx, project, rows.items) }
  },
})

const countsEntity = z.strictObject({
  triggered: z.int(),
  acknowledged: z.int(),
  resolved: z.int(),
  ignored: z.int(),
  open: z.int(),
  all: z.int(),
})

async function countsOf(ctx: Ctx, projectId: number, filter: AlertFilter) {
  const rows = await countAlertStatuses(ctx.db, projectId, filter)
  const of = (status: AlertStatus) =>
    rows.find((row) => row.status === placeOf(statuses, status))?.count ?? 0
  const counts = {
    triggered: of('triggered'),
    acknowledged: of('acknowledged'),
    resolved: of('resolved'),
    ignored: of('ignored'),
  }
  const open = counts.triggered + counts.acknowledged
  return { ...counts, open, all: open + counts.resolved + counts.ignored }
}

export const getAlertStatusCounts = endpoint({
  method: 'GET',
  path: '/projects/:id/alert_management_alerts/status_counts',
  summary: 'Count the alerts of a project by status',
  access: onProject('read_alerts'),
  query: filters,
  response: countsEntity,
  handler: ({ ctx, project, query }) => countsOf(ctx, project.id, filterOf(query)),
})

export const getAlert = endpoint({
  method: 'GET',
  path: '/projects/:id/alert_management_alerts/:alert_iid',
  summary: 'Get an alert with its payload',
  access: onAlert('read_alerts'),
  response: alertDetailEntity,
  handler: ({ ctx, project, alert }) => presentAlert(ctx, project, alert),
})

export const updateAlertByIid = endpoint({
  method: 'PUT',
  path: '/projects/:id/alert_management_alerts/:alert_iid',
  summary: 'Change the status or the assignee of an alert',
  access: onAlert('update_alerts'),
  body: {
    status: oneOf(statuses).optional(),
    assignee_ids: csv(integer(), { max: 200 }).optional(),
  },
  response: alertDetailEntity,
  async handler({ ctx, project, alert, body }) {
    if (body.status === undefined && body.assignee_ids === undefined) {
      throw badRequest('Please provide attributes to update')
    }
    const changes = { status: body.status, assigneeIds: body.assignee_ids }
    return await presentAlert(ctx, project, await changeAlert(ctx, project, alert, changes))
  },
})
