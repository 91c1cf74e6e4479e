import { z } from 'zod'
import { findProjectWithRole, type Project } from '../../access/subjects.ts'
import { task } from '../../background/task.ts'
import { dayOf, later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { mailUser } from '../../identity/mail/mail-user.ts'
import { alertUrl } from '../../monitoring/alerts/entity.ts'
import { severityOf } from '../../monitoring/alerts/words.ts'
import type { ChangedAlert } from '../../monitoring/effects.ts'
import { inTransaction } from '../../store/transaction.ts'
import { effectiveSetting } from '../notification-settings/effective.ts'
import { isSilent } from '../notifications/mail-followers.ts'
import {
  deleteMailWindow,
  findMailWindow,
  insertMailWindow,
  listMaintainerIds,
  type MailWindowRow,
  updateMailWindow,
} from './queries.ts'

/** How long alerts are collected after a mail: then one mail sums them up. */
const WINDOW_MS = 10 * 60_000
/** A summary names so many. */
const MOST_TITLES = 20

/**
 * Mails owners and maintainers about an alert that was opened or recovered. The first is mailed at once; what happens in the
 * next minutes becomes one summary, so that a storm is two mails and not ten thousand.
 */
export async function mailAlerts(ctx: Ctx, change: ChangedAlert): Promise<void> {
  const { project, alert, action, sendsMail } = change
  if (!sendsMail) return
  const window = await findMailWindow(ctx.db, project.id)
  if (window) return await collect(ctx, window, change)
  await openWindow(ctx, project.id)
  const word = action === 'opened' ? 'Alert' : 'Resolved'
  const text = [
    `${alert.title}`,
    '',
    `Severity: ${severityOf(alert.severity)}`,
    `Started: ${alert.started_at}`,
    ...(alert.ended_at === null ? [] : [`Ended: ${alert.ended_at}`]),
    ...(alert.description === null ? [] : ['', alert.description]),
    '',
    alertUrl(ctx, project, alert.iid),
    '',
  ].join('\n')
  await mailMaintainers(ctx, project, {
    subject: `${project.name} | ${word}: ${alert.title}`,
    text,
    key: `alert-${alert.id}-${action}-${Date.parse(ctx.now())}`,
  })
}

async function openWindow(ctx: Ctx, projectId: number): Promise<void> {
  const until = later(ctx.now(), WINDOW_MS)
  const empty = { until, opened: 0, recovered: 0, titles: '[]' }
  await insertMailWindow(ctx.db, { project_id: projectId, ...empty })
  await ctx.work.enqueue(ctx.db, mailAlertSummary, { project_id: projectId }, { runAt: until })
}

async function collect(ctx: Ctx, window: MailWindowRow, change: ChangedAlert): Promise<void> {
  const titles = JSON.parse(window.titles) as string[] // written by us as a list of texts
  const word = change.action === 'opened' ? 'opened' : 'resolved'
  if (titles.length < MOST_TITLES) titles.push(`${word}: ${change.alert.title}`)
  await updateMailWindow(ctx.db, window.project_id, {
    opened: window.opened + (change.action === 'opened' ? 1 : 0),
    recovered: window.recovered + (change.action === 'recovered' ? 1 : 0),
    titles: JSON.stringify(titles),
  })
}

/** Sums up what happened since the last mail, and goes on collecting; where nothing did, the next alert is mailed at once. */
export const mailAlertSummary = task({
  name: 'notifications.mail_alert_summary',
  payload: z.object({ project_id: z.int() }),
  async handler(ctx: Ctx, { project_id: projectId }) {
    await inTransaction(ctx, async (ctx) => {
      const window = await findMailWindow(ctx.db, projectId)
      if (!window || window.until > ctx.now()) return
      await deleteMailWindow(ctx.db, projectId)
      const project = await findProjectWithRole(ctx, projectId)
      if (!project || window.opened + window.recovered === 0) return
      await openWindow(ctx, projectId)
      await mailSummary(ctx, project, window)
    })
  },
})

async function mailSummary(ctx: Ctx, project: Project, window: MailWindowRow): Promise<void> {
  const titles = JSON.parse(window.titles) as string[] // written by us as a list of texts
  const total = window.opened + window.recovered
  const counts = `${window.opened} opened, ${window.recovered} resolved`
  const rest = total > titles.length ? [`and ${total - titles.length} more`] : []
  const url = `${ctx.config.externalUrl}/${project.full_path}/-/alert_management`
  await mailMaintainers(ctx, project, {
    subject: `${project.name} | Alerts: ${counts}`,
    text: [`Alerts of ${project.full_path}: ${counts}.`, '', ...titles, ...rest, '', url, ''].join(
      '\n',
    ),
    key: `alerts-${project.id}-${Date.parse(window.until)}`,
  })
}

async function mailMaintainers(
  ctx: Ctx,
  project: Project,
  mail: { readonly subject: string; readonly text: string; readonly key: string },
): Promise<void> {
  if (await isSilent(ctx, project)) return
  const place = { projectId: project.id, namespaceId: project.namespace_id }
  for (const userId of await listMaintainerIds(ctx.db, place, dayOf(ctx.now()))) {
    const setting = await effectiveSetting(ctx.db, userId, place)
    if (setting.level !== 'disabled') await mailUser(ctx, userId, mail, setting.email)
  }
}
