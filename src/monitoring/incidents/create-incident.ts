import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { addSystemNote } from '../../discussions/notes/verbs.ts'
import { changeTitle } from '../../planning/issues/change-title.ts'
import { createIssue } from '../../planning/issues/create-issue.ts'
import type { IssueRow } from '../../planning/issues/queries.ts'
import { linkIncident } from '../alerts/arrivals.ts'
import { alertUrl, imagePath } from '../alerts/entity.ts'
import { listImagesOf, type MetricImageRow } from '../alerts/image-queries.ts'
import { alertNoteable } from '../alerts/noteable.ts'
import type { AlertRow } from '../alerts/queries.ts'
import { severityOf } from '../alerts/words.ts'
import { saveEscalation } from './queries.ts'
import { addTimelineEvent } from './timeline.ts'

/** Images of metrics that an incident shows. */
const MOST_IMAGES = 20
const DEFAULT_TITLE = 'New: Alert'

/** Opens the incident of an alert, in the caller's transaction (docs/contract/C-resolved §1.4 Incident). */
export async function createIncident(
  ctx: Ctx,
  project: Project,
  alert: AlertRow,
  about: {
    readonly template?: string | null
    readonly settings?: { readonly on_call_user_id: number | null }
  } = {},
): Promise<IssueRow> {
  const onCall = about.settings?.on_call_user_id
  const created = await createIssue(ctx, project, {
    title: alert.title.slice(0, 255),
    description: descriptionOf(ctx, project, alert, {
      images: await listImagesOf(ctx.db, alert.id, MOST_IMAGES),
      template: about.template ?? null,
    }),
    issue_type: 'incident',
    severity: severityOf(alert.severity).toUpperCase(),
    ...(onCall ? { assignee_ids: [onCall] } : {}),
  })
  const issue =
    alert.title === DEFAULT_TITLE
      ? await changeTitle(ctx, created, `New: Incident ${created.iid}`)
      : created
  await linkIncident(ctx, alert.id, issue.id)
  const text = `created incident #${issue.iid} for this alert`
  await addSystemNote(ctx, alertNoteable(ctx, project, alert), 'alert_issue_added', text)
  await saveEscalation(ctx.db, issue.id, 'triggered', ctx.now())
  await addTimelineEvent(ctx, issue.id, {
    action: 'issues',
    note: `The alert **${alert.title}** opened the incident.`,
    occurredAt: alert.started_at,
  })
  return issue
}

function descriptionOf(
  ctx: Ctx,
  project: Project,
  alert: AlertRow,
  more: { readonly images: readonly MetricImageRow[]; readonly template: string | null },
): string {
  const hosts = JSON.parse(alert.hosts) as string[] // written by us as a list of texts
  const lines: readonly (readonly [string, string | null])[] = [
    ['Start time', alert.started_at],
    ['Severity', severityOf(alert.severity)],
    ['full_query', alert.query === null ? null : `\`${alert.query}\``],
    ['Service', alert.service],
    ['Monitoring tool', alert.monitoring_tool],
    ['Hosts', hosts.length === 0 ? null : hosts.join(' ')],
    ['Description', alert.description],
    ['Alert', alertUrl(ctx, project, alert.iid)],
  ]
  const list = lines
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `**${name}:** ${value}  `)
    .join('\n')
  const images = more.images.map((image) => imageText(ctx, project, image)).join('\n\n')
  return [list, images, alert.incident_markdown, more.template]
    .filter((part) => part !== null && part !== '')
    .join('\n\n---\n\n')
}

/** An image of a metric with the link that it was given. */
function imageText(ctx: Ctx, project: Project, image: MetricImageRow): string {
  const text = (image.url_text ?? image.filename).replaceAll(/[[\]\\\r\n]/g, ' ')
  const shown = `![${text}](${ctx.config.externalUrl}${imagePath(project.id, image)})`
  return image.url === null ? shown : `${shown} [${text}](<${image.url.replaceAll(/[<>\s]/g, '')}>)`
}
