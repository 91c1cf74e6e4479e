import type { Project } from '../../access/subjects.ts'
import { badRequest, existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { addSystemNote } from '../../discussions/notes/verbs.ts'
import { addTodos, completeTodosAbout } from '../../discussions/todos/add.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import type { ChangesOf } from '../../store/schema.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import { mayPerson } from './access.ts'
import { alertNoteable } from './noteable.ts'
import { type AlertRow, findAlertById, updateAlert } from './queries.ts'
import { type AlertStatus, placeOf, RESOLVED, statuses } from './words.ts'

export interface AlertChanges {
  readonly status?: AlertStatus | undefined
  /** Only the first counts; an empty list is nobody. */
  readonly assigneeIds?: readonly number[] | undefined
}

/** Changes status or assignee of an alert, with a note for each (docs/contract/C-resolved §1.5). */
export async function changeAlert(
  ctx: Ctx,
  project: Project,
  row: AlertRow,
  changes: AlertChanges,
): Promise<AlertRow> {
  const assignee = changes.assigneeIds === undefined ? undefined : (changes.assigneeIds[0] ?? null)
  if (typeof assignee === 'number' && !(await mayPerson(ctx, project, assignee, 'read_alerts'))) {
    throw badRequest('Assignee has no permissions')
  }
  return await inTransaction(ctx, async (ctx) => {
    // Somebody else may have changed it a moment ago: what is so already is not noted again.
    let changed = existing(await findAlertById(ctx.db, row.id), 'Alert')
    if (changes.status !== undefined) {
      changed = await setStatus(ctx, project, changed, changes.status)
    }
    if (assignee !== undefined) changed = await assign(ctx, project, changed, assignee)
    return changed
  })
}

/** Gives an alert a status, in the caller's transaction; nothing happens where it has it. */
export async function setStatus(
  ctx: Ctx,
  project: Project,
  row: AlertRow,
  status: AlertStatus,
): Promise<AlertRow> {
  const place = placeOf(statuses, status)
  if (place === row.status) return row
  const taken = {
    'alerts.project_id, alerts.fingerprint': () =>
      badRequest(
        'An alert with the same fingerprint is already open. To change the status of this alert, resolve the linked alert first',
      ),
  }
  const values: ChangesOf<'alerts'> = {
    status: place,
    ...(place === RESOLVED ? { ended_at: ctx.now() } : {}),
    ...(row.status === RESOLVED ? { ended_at: null } : {}),
  }
  const changed = await uniquely(taken, () => updateAlert(ctx.db, row.id, values, ctx.now()))
  await noteStatus(ctx, project, changed, status)
  return changed
}

/** What everybody sees of a new status: a note, and to-dos that are done with the alert. */
export async function noteStatus(
  ctx: Ctx,
  project: Project,
  row: AlertRow,
  status: AlertStatus,
): Promise<void> {
  const word = status.charAt(0).toUpperCase() + status.slice(1)
  const text = `changed the status to **${word}**`
  await addSystemNote(ctx, alertNoteable(ctx, project, row), 'status', text)
  if (status === 'resolved') await completeTodosAbout(ctx, { type: 'Alert', id: row.id })
}

async function assign(
  ctx: Ctx,
  project: Project,
  row: AlertRow,
  userId: number | null,
): Promise<AlertRow> {
  if (userId === row.assignee_id) return row
  const changed = await updateAlert(ctx.db, row.id, { assignee_id: userId }, ctx.now())
  const users = await usersById(ctx, [userId, row.assignee_id])
  const parts = [
    userId === null ? '' : `assigned to @${users.get(userId)?.username}`,
    row.assignee_id === null ? '' : `unassigned @${users.get(row.assignee_id)?.username}`,
  ]
  const text = parts.filter((part) => part !== '').join(' and ')
  await addSystemNote(ctx, alertNoteable(ctx, project, changed), 'assignee', text)
  if (userId !== null) {
    const target = { type: 'Alert', id: row.id, projectId: project.id } as const
    await addTodos(ctx, target, 'assigned', [userId])
  }
  return changed
}
