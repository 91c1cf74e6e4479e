import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { userBasicEntity } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import {
  type AlertRow,
  findAlertPayload,
  listAlertPayloads,
  listEnvironmentsNamed,
  listIssuesOfAlerts,
} from './queries.ts'
import { severities, severityOf, statuses, statusOf } from './words.ts'

/** An alert (docs/contract/C-resolved §1.5). */
export const alertEntity = z.strictObject({
  id: z.int(),
  iid: z.int(),
  project_id: z.int(),
  title: z.string(),
  description: z.string().nullable(),
  severity: z.enum(severities),
  status: z.enum(statuses),
  service: z.string().nullable(),
  monitoring_tool: z.string().nullable(),
  hosts: z.array(z.string()),
  started_at: z.string(),
  ended_at: z.string().nullable(),
  event_count: z.int(),
  environment: z.strictObject({ id: z.int(), name: z.string() }).nullable(),
  issue: z.strictObject({ id: z.int(), iid: z.int(), web_url: z.string() }).nullable(),
  assignees: z.array(userBasicEntity),
  runbook: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
  details_url: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})

export const alertDetailEntity = alertEntity.extend({
  payload: z.record(z.string(), z.unknown()),
})

type AlertBody = z.input<typeof alertEntity>
type Payload = Readonly<Record<string, unknown>>

/** Where people look at an alert. */
export function alertUrl(
  ctx: Pick<Ctx, 'config'>,
  project: Pick<Project, 'full_path'>,
  iid: number,
): string {
  return `${ctx.config.externalUrl}/${project.full_path}/-/alert_management/${iid}/details`
}

/** The path of an image of an alert, on the server itself. */
export function imagePath(
  projectId: number,
  image: { readonly secret: string; readonly filename: string },
): string {
  const name = encodeURIComponent(image.filename)
  return `/-/project/${projectId}/alert_metric_images/${image.secret}/${name}`
}

/** Bytes of payloads, and characters of the paths in them, of one answer: each alert has its share, and one alert room for all. */
const MOST_PAYLOADS = 4 * 1024 * 1024
const MOST_DETAILS = 4 * 1024 * 1024

/** Alerts for the wire; people, incidents, environments and what senders sent are read for all at once. */
export async function presentAlerts(
  ctx: Ctx,
  project: Project,
  rows: readonly AlertRow[],
): Promise<AlertBody[]> {
  const ids = rows.map((row) => row.id)
  const payloads = await listAlertPayloads(ctx.db, ids, MOST_PAYLOADS / rows.length)
  const sent = new Map(payloads.map((row) => [row.alert_id, payloadOf(row.payload)]))
  return await presentWith(ctx, project, rows, sent)
}

function payloadOf(text: string): Payload {
  return JSON.parse(text) as Payload // stored by us as an object
}

async function presentWith(
  ctx: Ctx,
  project: Project,
  rows: readonly AlertRow[],
  sent: ReadonlyMap<number, Payload>,
): Promise<AlertBody[]> {
  const users = await usersById(
    ctx,
    rows.map((row) => row.assignee_id),
  )
  const issueIds = rows.flatMap((row) => row.issue_id ?? [])
  const issues = new Map(
    (await listIssuesOfAlerts(ctx.db, issueIds)).map((issue) => [issue.id, issue]),
  )
  const names = [...new Set(rows.flatMap((row) => row.environment ?? []))]
  const environments = new Map(
    (await listEnvironmentsNamed(ctx.db, project.id, names)).map((one) => [one.name, one]),
  )
  return rows.map((row) => {
    const issue = issues.get(row.issue_id ?? 0)
    const assignee = users.get(row.assignee_id ?? 0)
    const base = `${ctx.config.externalUrl}/${project.full_path}`
    return {
      id: row.id,
      iid: row.iid,
      project_id: row.project_id,
      title: row.title,
      description: row.description,
      severity: severityOf(row.severity),
      status: statusOf(row.status),
      service: row.service,
      monitoring_tool: row.monitoring_tool,
      hosts: JSON.parse(row.hosts) as string[], // written by us as a list of texts
      started_at: row.started_at,
      ended_at: row.ended_at,
      event_count: row.events,
      environment: environments.get(row.environment ?? '') ?? null,
      issue: issue ? { ...issue, web_url: `${base}/-/issues/${issue.iid}` } : null,
      assignees: assignee ? [assignee] : [],
      runbook: row.runbook,
      details: flattened(sent.get(row.id) ?? {}, MOST_DETAILS / rows.length),
      details_url: alertUrl(ctx, project, row.iid),
      created_at: row.created_at,
      updated_at: row.updated_at,
    }
  })
}

/** One alert with what its sender sent. */
export async function presentAlert(
  ctx: Ctx,
  project: Project,
  row: AlertRow,
): Promise<z.input<typeof alertDetailEntity>> {
  const payload = payloadOf(await findAlertPayload(ctx.db, row.id))
  const [alert] = await presentWith(ctx, project, [row], new Map([[row.id, payload]]))
  if (!alert) throw new Error('an alert is presented as itself')
  return { ...alert, payload }
}

/** The leaves of a payload by their paths: `labels.severity`; a long key above many leaves stands in the path of each. */
function flattened(payload: Payload, mostCharacters: number): Record<string, unknown> {
  const found: [string, unknown][] = []
  let room = mostCharacters
  const collect = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) {
      room -= path.length
      if (room >= 0) found.push([path, value])
      return
    }
    for (const [key, inner] of Object.entries(value)) {
      if (room < 0) return
      collect(inner, path === '' ? key : `${path}.${key}`)
    }
  }
  collect(payload, '')
  return Object.fromEntries(found)
}
