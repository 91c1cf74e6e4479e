import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { ChangedIssue } from '../../planning/effects.ts'
import { closeIssueVia } from '../../planning/issues/change-issue.ts'
import { findIssueById } from '../../planning/issues/queries.ts'
import { setStatus } from '../alerts/change-alert.ts'
import { type AlertRow, listAlertsOfIssue } from '../alerts/queries.ts'
import { RESOLVED } from '../alerts/words.ts'
import { saveEscalation } from './queries.ts'
import { addTimelineEvent } from './timeline.ts'

/** Closes the incident of an alert that recovered, in the caller's transaction. */
export async function closeIncident(ctx: Ctx, project: Project, alert: AlertRow): Promise<void> {
  if (alert.issue_id === null) return
  const issue = await findIssueById(ctx.db, alert.issue_id)
  if (!issue || issue.state === 'closed') return
  const others = await listAlertsOfIssue(ctx.db, issue.id)
  if (others.some((other) => other.status !== RESOLVED)) return
  await closeIssueVia(ctx, project, issue, ' because the alert was resolved')
}

/** Whoever closes an incident by hand has resolved its alerts (docs/contract/C-resolved §1.4 Incident). */
export async function resolveAlertsOf(
  ctx: Ctx,
  { project, before, after }: ChangedIssue,
): Promise<void> {
  const isClosed = before?.row.state === 'opened' && after.row.state === 'closed'
  if (!isClosed || after.row.issue_type !== 'incident') return
  for (const alert of await listAlertsOfIssue(ctx.db, after.row.id)) {
    await setStatus(ctx, project, alert, 'resolved')
  }
  await saveEscalation(ctx.db, after.row.id, 'resolved', ctx.now())
  await addTimelineEvent(ctx, after.row.id, {
    action: 'status',
    note: 'The incident was closed.',
    occurredAt: ctx.now(),
  })
}
