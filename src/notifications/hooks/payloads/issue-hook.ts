import type { Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import type { ChangedIssue } from '../../../planning/effects.ts'
import {
  type IssueState,
  newestIssue,
  readIssueState,
} from '../../../planning/issues/issue-state.ts'
import { issueUrl } from '../../../planning/issues/present.ts'
import type { IssueRow } from '../../../planning/issues/queries.ts'
import type { LabelRow } from '../../../planning/labels/entity.ts'
import { timeStats } from '../../../planning/time-tracking/duration.ts'
import { fireHooks, type HookPayload } from '../fire.ts'
import {
  changesBetween,
  hookActor,
  hookProject,
  hookRepository,
  hookUser,
  isNoNews,
} from './payload-parts.ts'

type IssueAction = 'open' | 'update' | 'close' | 'reopen'

/** Notifies the hooks of an issue that was made or changed, in the caller's transaction (docs/contract/D §1.25). */
export async function fireIssueHooks(
  ctx: Ctx,
  { project, before, after }: ChangedIssue,
): Promise<void> {
  const action = before ? actionOf(before.row, after.row) : 'open'
  const changes = before ? changesBetween(compared(ctx, before), compared(ctx, after)) : {}
  // What was put elsewhere among others is none either.
  if (before && isNoNews(changes)) return
  const event = after.row.confidential === 1 ? 'confidential_issue' : 'issue'
  await fireHooks(ctx, project, event, async () => ({
    object_kind: 'issue',
    event_type: event,
    user: await hookActor(ctx),
    ...issuePayload(ctx, project, after, { action }),
    changes,
  }))
}

/** The parts of a payload that describe an issue as it is. */
function issuePayload(
  ctx: Ctx,
  project: Project,
  state: IssueState,
  cause: { readonly action?: IssueAction } = {},
): HookPayload {
  const assignees = state.assignees.map((user) => hookUser(ctx, user))
  return {
    project: hookProject(ctx, project),
    object_attributes: { ...issueAttributes(ctx, state), ...cause },
    labels: state.labels.map(hookLabel),
    assignees,
    assignee: assignees[0] ?? null,
    repository: hookRepository(ctx, project),
  }
}

/** An issue as payloads show it, with the time that was spent on it. */
export function issueAttributes(ctx: Ctx, { row, labels, assignees, spent }: IssueState) {
  return {
    id: row.id,
    iid: row.iid,
    title: row.title,
    description: row.description,
    state: row.state,
    state_id: row.state === 'opened' ? 1 : 2,
    type: row.issue_type,
    author_id: row.author_id,
    project_id: row.project_id,
    milestone_id: row.milestone_id,
    assignee_id: assignees[0]?.id ?? null,
    assignee_ids: assignees.map((user) => user.id),
    confidential: row.confidential === 1,
    discussion_locked: row.discussion_locked === null ? null : row.discussion_locked === 1,
    start_date: row.start_date,
    due_date: row.due_date,
    weight: row.weight,
    severity: row.severity,
    ...timeStats(ctx, row.time_estimate, spent),
    moved_to_id: row.moved_to_id,
    duplicated_to_id: row.duplicated_to_id,
    relative_position: row.relative_position,
    closed_at: row.closed_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
    url: issueUrl(ctx, row),
    labels: labels.map(hookLabel),
  }
}

export function hookLabel(label: LabelRow) {
  return {
    id: label.id,
    title: label.title,
    color: label.color,
    project_id: label.project_id,
    description: label.description,
    type: label.project_id === null ? 'GroupLabel' : 'ProjectLabel',
  }
}

const comparedFields = [
  'title',
  'description',
  'state_id',
  'type',
  'confidential',
  'discussion_locked',
  'start_date',
  'due_date',
  'milestone_id',
  'weight',
  'severity',
  'moved_to_id',
  'duplicated_to_id',
  'closed_at',
  'time_estimate',
  'total_time_spent',
  'updated_at',
] as const

/** The fields of an issue that hooks compare. */
function compared(ctx: Ctx, state: IssueState): Readonly<Record<string, unknown>> {
  const { labels, ...attributes } = issueAttributes(ctx, state)
  return {
    ...Object.fromEntries(comparedFields.map((name) => [name, attributes[name]])),
    labels,
    assignees: state.assignees.map((user) => hookUser(ctx, user)),
  }
}

/** Which word a change has for hooks. */
function actionOf(before: IssueRow, after: IssueRow): IssueAction {
  if (before.state === after.state) return 'update'
  return after.state === 'closed' ? 'close' : 'reopen'
}

/** The newest issue as a payload, for trying a hook out. */
export async function newestIssuePayload(
  ctx: Ctx,
  project: Project,
  confidential: boolean,
): Promise<HookPayload | undefined> {
  const row = await newestIssue(ctx, project, confidential)
  if (!row) return undefined
  const event = confidential ? 'confidential_issue' : 'issue'
  const user = await hookActor(ctx)
  const state = await readIssueState(ctx, row)
  const payload = issuePayload(ctx, project, state)
  return { object_kind: 'issue', event_type: event, user, ...payload }
}
