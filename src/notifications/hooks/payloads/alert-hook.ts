import type { Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import { alertUrl } from '../../../monitoring/alerts/entity.ts'
import { type AlertRow, findNewestAlert } from '../../../monitoring/alerts/queries.ts'
import { severityOf, statusOf } from '../../../monitoring/alerts/words.ts'
import type { ChangedAlert } from '../../../monitoring/effects.ts'
import { fireHooks, type HookPayload } from '../fire.ts'
import { hookProject } from './payload-parts.ts'

/** Notifies the hooks of a new alert (docs/contract/C-resolved §1.4). */
export async function fireAlertHooks(
  ctx: Ctx,
  { project, alert, action }: ChangedAlert,
): Promise<void> {
  if (action !== 'opened') return
  await fireHooks(ctx, project, 'alert', () => payloadOf(ctx, project, alert))
}

function payloadOf(ctx: Ctx, project: Project, alert: AlertRow): HookPayload {
  return {
    object_kind: 'alert',
    project: hookProject(ctx, project),
    object_attributes: alertAttributes(ctx, project, alert),
  }
}

/** An alert as payloads show it. */
export function alertAttributes(ctx: Ctx, project: Project, alert: AlertRow) {
  return {
    title: alert.title,
    url: alertUrl(ctx, project, alert.iid),
    severity: severityOf(alert.severity),
    events: alert.events,
    status: statusOf(alert.status),
    started_at: alert.started_at,
  }
}

/** The newest alert as a payload, for trying a hook out. */
export async function newestAlertPayload(
  ctx: Ctx,
  project: Project,
): Promise<HookPayload | undefined> {
  const row = await findNewestAlert(ctx.db, project.id)
  return row && payloadOf(ctx, project, row)
}
