import { userOf } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import { runEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import type { Noteable } from '../../discussions/notes/noteable.ts'
import { addSystemNote } from '../../discussions/notes/verbs.ts'
import { followText } from '../../discussions/references/follow-text.ts'
import { addNoteAbout, type NoteSource } from '../../discussions/references/note-mention.ts'
import { addTodos, completeTodos } from '../../discussions/todos/add.ts'
import type { ChangesOf } from '../../store/schema.ts'
import { inTransaction } from '../../store/transaction.ts'
import { setAssignees } from '../assignees/verbs.ts'
import { type LabelInput, setLabels } from '../labels/set-labels.ts'
import { presentMilestonesById } from '../milestones/verbs.ts'
import {
  recordLabelEvents,
  recordMilestoneEvent,
  recordStateEvent,
  recordWeightEvent,
} from '../resource-events/record.ts'
import { assertTitle, getRow, type IssueInput, milestoneFor } from './create-issue.ts'
import { asNoteable } from './find.ts'
import { type IssueState, readIssueState } from './issue-state.ts'
import { type IssueRow, updateIssue } from './queries.ts'
import { changedTasks } from './tasks-in-text.ts'
import { titleChange } from './title-change.ts'

export interface IssueChanges
  extends Omit<IssueInput, 'iid' | 'created_at' | 'labels' | 'title' | 'severity'>,
    LabelInput {
  readonly title?: string | undefined
  readonly state_event?: 'close' | 'reopen' | undefined
  readonly updated_at?: string | undefined
}

/** Changes what is given, with a system note and events for each change, in one transaction. */
export async function changeIssue(
  ctx: Ctx,
  project: Project,
  found: IssueRow,
  changes: IssueChanges,
): Promise<IssueRow> {
  if (changes.title !== undefined) assertTitle(changes.title)
  return inTransaction(ctx, async (ctx) => {
    const row = await getRow(ctx, found.id)
    const noteable = asNoteable(ctx, project, row)
    const before = await readIssueState(ctx, row)
    const values: ChangesOf<'issues'> = {
      ...(await textChanges(ctx, noteable, row, changes)),
      ...(await planChanges(ctx, project, noteable, row, changes)),
      ...(await flagChanges(ctx, noteable, row, changes)),
      ...(await stateChange(ctx, noteable, row, changes.state_event)),
    }
    await peopleAndLabels(ctx, project, noteable, row, changes)
    await updateIssue(ctx.db, row.id, { ...values, updated_at: changes.updated_at ?? ctx.now() })
    return changed(ctx, project, before)
  })
}

async function textChanges(ctx: Ctx, noteable: Noteable, row: IssueRow, changes: IssueChanges) {
  const title = changes.title?.trim()
  if (title !== undefined && title !== row.title) {
    await addSystemNote(ctx, noteable, 'title', titleChange(row.title, title))
    await followText(ctx, noteable, title)
  }
  const { description } = changes
  if (description !== undefined && description !== row.description) {
    await noteDescription(ctx, noteable, row.description, description)
    await followText(ctx, noteable, description ?? '')
  }
  return { title, description, ...(await typeChange(ctx, noteable, row, changes.issue_type)) }
}

/** Ticks of a check-list have notes of their own (docs/contract/B-resolved §11.3 task). */
async function noteDescription(
  ctx: Ctx,
  noteable: Noteable,
  before: string | null,
  after: string | null,
): Promise<void> {
  const ticks = changedTasks(before, after)
  for (const { text, completed } of ticks) {
    const word = completed ? 'completed' : 'incomplete'
    await addSystemNote(ctx, noteable, 'task', `marked the task **${text}** as ${word}`)
  }
  if (ticks.length === 0)
    await addSystemNote(ctx, noteable, 'description', 'changed the description')
}

async function typeChange(
  ctx: Ctx,
  noteable: Noteable,
  row: IssueRow,
  type: IssueRow['issue_type'] | undefined,
): Promise<ChangesOf<'issues'>> {
  if (type === undefined || type === row.issue_type) return {}
  const word = (one: string) => one.replaceAll('_', ' ')
  const text = `changed type from ${word(row.issue_type)} to ${word(type)}`
  await addSystemNote(ctx, noteable, 'issue_type', text)
  return { issue_type: type }
}

/** The days of an issue, with what system notes call them and a change of them. */
const dates = [
  ['due_date', 'due date', 'due_date'],
  ['start_date', 'start date', 'start_date_or_due_date'],
] as const

async function planChanges(
  ctx: Ctx,
  project: Project,
  noteable: Noteable,
  row: IssueRow,
  changes: IssueChanges,
): Promise<ChangesOf<'issues'>> {
  const subject = { type: 'issue', id: row.id } as const
  const found: ChangesOf<'issues'> = {}
  if (changes.milestone_id !== undefined) {
    found.milestone_id = await milestoneFor(ctx, project, changes.milestone_id)
    await recordMilestoneEvent(ctx, subject, row.milestone_id, found.milestone_id)
    await noteMilestone(ctx, noteable, row.milestone_id, found.milestone_id)
  }
  for (const [field, words, action] of dates) {
    const day = changes[field]
    if (day === undefined || day === row[field]) continue
    found[field] = day
    const text = day === null ? `removed ${words}` : `changed ${words} to ${day}`
    await addSystemNote(ctx, noteable, action, text)
  }
  if (changes.weight !== undefined && changes.weight !== row.weight) {
    found.weight = changes.weight
    await recordWeightEvent(ctx, subject, changes.weight)
  }
  return found
}

async function noteMilestone(
  ctx: Ctx,
  noteable: Noteable,
  before: number | null,
  after: number | null,
): Promise<void> {
  if (before === after) return
  if (after === null) return addSystemNote(ctx, noteable, 'milestone', 'removed milestone')
  const title = (await presentMilestonesById(ctx, [after])).get(after)?.title ?? ''
  await addSystemNote(ctx, noteable, 'milestone', `changed milestone to %${title}`)
}

async function flagChanges(ctx: Ctx, noteable: Noteable, row: IssueRow, changes: IssueChanges) {
  const { confidential, discussion_locked: locked } = changes
  if (confidential !== undefined && confidential !== (row.confidential === 1)) {
    const text = confidential ? 'made the issue confidential' : 'made the issue visible to everyone'
    await addSystemNote(ctx, noteable, confidential ? 'confidential' : 'visible', text)
  }
  if (locked !== undefined && locked !== (row.discussion_locked === 1)) {
    const word = locked ? 'locked' : 'unlocked'
    await addSystemNote(ctx, noteable, word, `${word} this issue`)
  }
  const lock: 0 | 1 | undefined = locked === undefined ? undefined : locked ? 1 : 0
  return { confidential, discussion_locked: lock }
}

async function stateChange(
  ctx: Ctx,
  noteable: Noteable,
  row: IssueRow,
  event: 'close' | 'reopen' | undefined,
  via = '',
  cause?: NoteSource,
): Promise<ChangesOf<'issues'>> {
  const state = event === 'close' ? 'closed' : event === 'reopen' ? 'opened' : row.state
  if (state === row.state) return {}
  const word = state === 'closed' ? 'closed' : 'reopened'
  const action = word === 'closed' ? 'closed' : 'opened'
  if (cause) await addNoteAbout(ctx, noteable, action, word + via, cause)
  else await addSystemNote(ctx, noteable, action, word + via)
  const commit = cause?.type === 'Commit' ? (cause.commitId ?? undefined) : undefined
  const mergeRequestId = cause?.type === 'MergeRequest' ? (cause.id ?? undefined) : undefined
  const by = { commit, mergeRequestId }
  await recordStateEvent(ctx, { type: 'issue', id: row.id }, word, by)
  await runEffects(ctx, ctx.effects.activity, {
    projectId: row.project_id,
    action: word,
    targetType: 'Issue',
    targetId: row.id,
    targetIid: row.iid,
    targetTitle: row.title,
  })
  return state === 'closed'
    ? { state, closed_at: ctx.now(), closed_by_id: userOf(ctx.actor)?.id ?? null }
    : { state, closed_at: null, closed_by_id: null }
}

async function peopleAndLabels(
  ctx: Ctx,
  project: Project,
  noteable: Noteable,
  row: IssueRow,
  changes: IssueChanges,
): Promise<void> {
  const { labels, add, remove, assignee_ids: people } = changes
  if (labels || add || remove) {
    const change = await setLabels(ctx, project, 'issue', row.id, { labels, add, remove })
    await recordLabelEvents(ctx, { type: 'issue', id: row.id }, change.added, change.removed)
  }
  if (!people) return
  const change = await setAssignees(ctx, project, 'issue', row.id, people)
  const target = { type: 'Issue', id: row.id, projectId: project.id } as const
  await addTodos(
    ctx,
    target,
    'assigned',
    change.added.map((user) => user.id),
  )
  const text = assigneeText(change.added, change.removed)
  if (text !== '') await addSystemNote(ctx, noteable, 'assignee', text)
}

/** `assigned to @a, @b and unassigned @c` (docs/contract/B-resolved §11.3). */
function assigneeText(
  added: readonly { readonly username: string }[],
  removed: readonly { readonly username: string }[],
): string {
  const names = (users: readonly { readonly username: string }[]) =>
    users.map((user) => `@${user.username}`).join(', ')
  const parts = [
    ...(added.length > 0 ? [`assigned to ${names(added)}`] : []),
    ...(removed.length > 0 ? [`unassigned ${names(removed)}`] : []),
  ]
  return parts.join(' and ')
}

/** Closes an issue because of a commit or merge request that `via` names, such as ` via merge request !1`. */
export async function closeIssueVia(
  ctx: Ctx,
  project: Project,
  found: IssueRow,
  via: string,
  cause?: NoteSource,
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const row = await getRow(ctx, found.id)
    if (row.state === 'closed') return
    const values = await stateChange(ctx, asNoteable(ctx, project, row), row, 'close', via, cause)
    const before = await readIssueState(ctx, row)
    await updateIssue(ctx.db, row.id, { ...values, updated_at: ctx.now() })
    await changed(ctx, project, before)
  })
}

/** Closes an issue in the place of which another one stands from now on, in a transaction; one that is closed only says so. */
export async function closeIssueFor(
  ctx: Ctx,
  project: Project,
  found: IssueRow,
  other: Pick<ChangesOf<'issues'>, 'moved_to_id' | 'duplicated_to_id'>,
): Promise<void> {
  const row = await getRow(ctx, found.id)
  if (row.state === 'closed') return await updateIssue(ctx.db, row.id, other)
  const values = await stateChange(ctx, asNoteable(ctx, project, row), row, 'close')
  const before = await readIssueState(ctx, row)
  await updateIssue(ctx.db, row.id, { ...values, ...other, updated_at: ctx.now() })
  await changed(ctx, project, before)
}

/** Does what `change` does to what hangs on an issue, in a transaction, with what follows from a change of the issue. */
export async function editIssue(
  ctx: Ctx,
  project: Project,
  id: number,
  change: (ctx: Ctx) => Promise<void>,
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const before = await readIssueState(ctx, await getRow(ctx, id))
    await change(ctx)
    await updateIssue(ctx.db, id, { updated_at: ctx.now() })
    await changed(ctx, project, before)
  })
}

/** The row as it is now, after the effects of the change. */
async function changed(ctx: Ctx, project: Project, before: IssueState): Promise<IssueRow> {
  const row = await getRow(ctx, before.row.id)
  const after = await readIssueState(ctx, row)
  await completeTodos(ctx, { type: 'Issue', id: row.id })
  await runEffects(ctx, ctx.effects.issueChanged, { project, before, after })
  return row
}
