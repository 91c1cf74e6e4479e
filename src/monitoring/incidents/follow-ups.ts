import { z } from 'zod'
import { findProjectById } from '../../access/find-queries.ts'
import { type Project, withProjectRole } from '../../access/subjects.ts'
import { task } from '../../background/task.ts'
import { runEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import { addSystemNote } from '../../discussions/notes/verbs.ts'
import { readDescription } from '../../repositories/templates/descriptions.ts'
import { inTransaction } from '../../store/transaction.ts'
import { noteStatus } from '../alerts/change-alert.ts'
import { alertNoteable } from '../alerts/noteable.ts'
import { type AlertRow, findAlertById } from '../alerts/queries.ts'
import { RESOLVED } from '../alerts/words.ts'
import { actAsAlertBot } from './alert-bot.ts'
import { closeIncident } from './close-incident.ts'
import { createIncident } from './create-incident.ts'
import { type FollowUpRow, insertFollowUps, isFollowUpWaiting, takeFollowUps } from './queries.ts'
import { findIncidentSettings, type IncidentSettings } from './settings.ts'

/** What is left to do for an alert that was taken in. */
export interface FollowUp {
  readonly alertId: number
  readonly action: FollowUpRow['action']
}

/** Follow-ups of one transaction, and of one run of the task: then other projects have their turn. */
const BATCH = 10
const BATCHES = 5

/** Notes what is to follow, in the caller's transaction. */
export async function followLater(
  ctx: Ctx,
  projectId: number,
  follow: readonly FollowUp[],
): Promise<void> {
  if (follow.length === 0) return
  const rows = follow.map(({ alertId, action }) => ({
    project_id: projectId,
    alert_id: alertId,
    action,
  }))
  await insertFollowUps(ctx.db, rows)
  await enqueue(ctx, projectId)
}

async function enqueue(ctx: Ctx, projectId: number): Promise<void> {
  const payload = { project_id: projectId }
  await ctx.work.enqueue(ctx.db, followAlerts, payload, { uniqueKey: String(projectId) })
}

/**
 * Notes, incidents, mail and webhooks of a project's alerts, in the order in which they came: each batch takes the
 * oldest follow-ups off the list in the transaction that does them.
 */
export const followAlerts = task({
  name: 'monitoring.follow_alerts',
  payload: z.object({ project_id: z.int() }),
  async handler(ctx: Ctx, { project_id: projectId }, signal) {
    const row = await findProjectById(ctx.db, projectId)
    if (!row) return
    const bot = await actAsAlertBot(ctx)
    const project = await withProjectRole(ctx, row)
    const settings = await findIncidentSettings(ctx.db, projectId)
    const template = await templateText(ctx, project, settings, signal)
    for (let batch = 0; batch < BATCHES; batch += 1) {
      signal.throwIfAborted()
      const taken = await inTransaction(bot, async (ctx) => {
        const rows = await takeFollowUps(ctx.db, projectId, BATCH)
        for (const one of rows) await follow(ctx, project, one, { settings, template })
        return rows.length
      })
      if (taken < BATCH) return
    }
    await inTransaction(ctx, async (ctx) => {
      if (await isFollowUpWaiting(ctx.db, projectId)) await enqueue(ctx, projectId)
    })
  },
})

async function templateText(
  ctx: Ctx,
  project: Project,
  settings: IncidentSettings,
  signal: AbortSignal,
): Promise<string | null> {
  const { create_issue: opens, issue_template_key: key } = settings
  if (!opens || key === null) return null
  return (await readDescription(ctx, project, 'issues', key, signal))?.content ?? null
}

interface Manner {
  readonly settings: IncidentSettings
  readonly template: string | null
}

async function follow(ctx: Ctx, project: Project, one: FollowUpRow, manner: Manner): Promise<void> {
  const alert = await findAlertById(ctx.db, one.alert_id)
  if (!alert) return
  const { settings } = manner
  const sendsMail = settings.send_email
  if (one.action === 'recovered') {
    await noteStatus(ctx, project, alert, 'resolved')
    if (settings.auto_close_incident) await closeIncident(ctx, project, alert)
    await runEffects(ctx, ctx.effects.alertChanged, {
      project,
      alert,
      action: 'recovered',
      sendsMail,
    })
    return
  }
  if (one.action === 'opened') {
    await noteArrival(ctx, project, alert)
    await runEffects(ctx, ctx.effects.alertChanged, { project, alert, action: 'opened', sendsMail })
  }
  const isOpen = alert.status !== RESOLVED && alert.issue_id === null
  if (settings.create_issue && isOpen) await createIncident(ctx, project, alert, manner)
}

async function noteArrival(ctx: Ctx, project: Project, alert: AlertRow): Promise<void> {
  const tool = alert.monitoring_tool ?? 'a monitoring tool'
  const text = `logged an alert from **${tool}**`
  await addSystemNote(ctx, alertNoteable(ctx, project, alert), 'new_alert_added', text)
}
