import { userOf } from '../../access/actor.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { isSubscribed } from '../../discussions/subscriptions/subscribe.ts'
import { presentUserBasic } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import { assigneesBySubject } from '../assignees/verbs.ts'
import { describeLabels } from '../labels/describe.ts'
import { presentLabelDetail } from '../labels/entity.ts'
import { labelsBySubject } from '../labels/set-labels.ts'
import { presentMilestonesById } from '../milestones/verbs.ts'
import { timeStats } from '../time-tracking/duration.ts'
import type { IssueBody } from './entity.ts'
import { type IssueRow, listIssueCounts, listSeenIssues } from './queries.ts'
import { countTasks } from './tasks-in-text.ts'

const TYPES = {
  issue: 'ISSUE',
  incident: 'INCIDENT',
  test_case: 'TEST_CASE',
  task: 'TASK',
} as const

export interface IssueShape {
  readonly labelDetails?: boolean | undefined
  /** Full path of the project that references are relative to. */
  readonly relativeTo?: string | undefined
}

/** Issues for the wire; what belongs to them is read for all at once. */
export async function presentIssues(
  ctx: Ctx,
  rows: readonly IssueRow[],
  shape: IssueShape = {},
): Promise<IssueBody[]> {
  const ids = rows.map((row) => row.id)
  const people = rows.flatMap((row) => [row.author_id, row.closed_by_id])
  const users = await usersById(ctx, people)
  const duplicated = rows.flatMap((row) => row.duplicated_to_id ?? [])
  const [labels, assignees, milestones, counts, originals] = await Promise.all([
    labelsBySubject(ctx, 'issue', ids),
    assigneesBySubject(ctx, 'issue', ids),
    presentMilestonesById(
      ctx,
      rows.flatMap((row) => row.milestone_id ?? []),
    ),
    listIssueCounts(ctx.db, viewerOf(ctx), ids),
    listSeenIssues(ctx.db, viewerOf(ctx), duplicated),
  ])
  const descriptions = await describeLabels(
    ctx,
    shape.labelDetails ? [...labels.values()].flat() : [],
  )
  const countsById = new Map(counts.map((one) => [one.id, one]))
  const user = (id: number | null) => users.get(id ?? 0) ?? null
  return rows.map((row) => {
    const own = labels.get(row.id) ?? []
    const responsible = (assignees.get(row.id) ?? []).map((one) => presentUserBasic(ctx, one))
    return {
      ...plainFields(ctx, row, shape),
      _links: linksOf(
        ctx,
        row,
        originals.find((one) => one.id === row.duplicated_to_id),
      ),
      ...countFields(ctx, row, countsById.get(row.id) ?? NO_COUNTS),
      ...taskFields(row),
      closed_by: user(row.closed_by_id),
      labels: shape.labelDetails
        ? own.map((label) => presentLabelDetail(label, descriptions))
        : own.map((label) => label.title),
      milestone: (row.milestone_id === null ? null : milestones.get(row.milestone_id)) ?? null,
      assignees: responsible,
      author: user(row.author_id),
      assignee: responsible[0] ?? null,
    }
  })
}

type Counts = Awaited<ReturnType<typeof listIssueCounts>>[number]

const NO_COUNTS: Counts = {
  id: 0,
  upvotes: 0,
  downvotes: 0,
  notes: 0,
  spent: 0,
  merge_requests: 0,
  blocking: 0,
}

function countFields(ctx: Ctx, row: IssueRow, count: Counts) {
  return {
    user_notes_count: count.notes,
    merge_requests_count: count.merge_requests,
    upvotes: count.upvotes,
    downvotes: count.downvotes,
    time_stats: timeStats(ctx, row.time_estimate, count.spent),
    blocking_issues_count: count.blocking,
  }
}

function taskFields(row: IssueRow) {
  const tasks = countTasks(row.description)
  const said = `${tasks.completed_count} of ${tasks.count} checklist items completed`
  return {
    task_completion_status: tasks,
    has_tasks: tasks.count > 0,
    ...(tasks.count > 0 ? { task_status: said } : {}),
  }
}

function plainFields(ctx: Ctx, row: IssueRow, shape: IssueShape) {
  const full = `${row.project_path}#${row.iid}`
  const short = `#${row.iid}`
  return {
    id: row.id,
    iid: row.iid,
    project_id: row.project_id,
    title: row.title,
    description: row.description,
    state: row.state,
    created_at: row.created_at,
    updated_at: row.updated_at,
    closed_at: row.closed_at,
    type: TYPES[row.issue_type],
    start_date: row.start_date,
    due_date: row.due_date,
    confidential: row.confidential === 1,
    discussion_locked: row.discussion_locked === null ? null : row.discussion_locked === 1,
    issue_type: row.issue_type,
    web_url: issueUrl(ctx, row),
    weight: row.weight,
    references: { short, relative: shape.relativeTo === row.project_path ? short : full, full },
    severity: row.severity,
    moved_to_id: row.moved_to_id,
    imported: false,
    imported_from: 'none',
    service_desk_reply_to: null,
    epic_iid: null,
    epic: null,
    iteration: null,
    health_status: null,
  } as const
}

/** `original` is the issue that this one is a duplicate of, if the caller sees it. */
function linksOf(ctx: Ctx, row: IssueRow, original: IssueRow | undefined): IssueBody['_links'] {
  const projects = `${ctx.config.externalUrl}/api/v4/projects`
  const addressOf = (issue: IssueRow) => `${projects}/${issue.project_id}/issues/${issue.iid}`
  const self = addressOf(row)
  return {
    self,
    notes: `${self}/notes`,
    award_emoji: `${self}/award_emoji`,
    project: `${projects}/${row.project_id}`,
    closed_as_duplicate_of: original ? addressOf(original) : null,
  }
}

/** Where a person reads the issue. */
export function issueUrl(
  ctx: Pick<Ctx, 'config'>,
  row: Pick<IssueRow, 'project_path' | 'iid'>,
): string {
  return `${ctx.config.externalUrl}/${row.project_path}/-/issues/${row.iid}`
}

/** One issue in full, with whether the caller follows it. */
export async function presentIssue(
  ctx: Ctx,
  row: IssueRow,
  shape: IssueShape = {},
): Promise<IssueBody> {
  const [issue] = await presentIssues(ctx, [row], { relativeTo: row.project_path, ...shape })
  if (!issue) throw notFound('Issue')
  return {
    ...issue,
    subscribed: await isSubscribed(ctx, 'issue', row.id, takesPart(ctx, row, issue)),
  }
}

/** Authors and assignees follow an issue unless they say otherwise. */
export function takesPart(
  ctx: Ctx,
  row: Pick<IssueRow, 'author_id'>,
  issue: Pick<IssueBody, 'assignees'>,
): boolean {
  const me = userOf(ctx.actor)?.id
  return me !== undefined && (row.author_id === me || issue.assignees.some((one) => one.id === me))
}
