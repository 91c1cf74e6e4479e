import { userOf } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import { runEffects } from '../../base/effects.ts'
import { conflict, existing, invalid, unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { followText } from '../../discussions/references/follow-text.ts'
import { addTodos } from '../../discussions/todos/add.ts'
import { nextIid, reserveIid } from '../../store/iid.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import { setAssignees } from '../assignees/verbs.ts'
import { setLabels } from '../labels/set-labels.ts'
import { findUsableMilestone } from '../milestones/queries.ts'
import { placeOfProject } from '../place.ts'
import {
  recordLabelEvents,
  recordMilestoneEvent,
  recordWeightEvent,
} from '../resource-events/record.ts'
import { readIssueState } from './issue-state.ts'
import { findIssueById, type IssueRow, insertIssue } from './queries.ts'

export interface IssueInput {
  readonly title: string
  readonly description?: string | null | undefined
  readonly issue_type?: 'issue' | 'incident' | 'test_case' | 'task' | undefined
  readonly labels?: readonly string[] | undefined
  readonly assignee_ids?: readonly number[] | undefined
  readonly milestone_id?: number | null | undefined
  readonly due_date?: string | null | undefined
  readonly start_date?: string | null | undefined
  readonly confidential?: boolean | undefined
  readonly discussion_locked?: boolean | undefined
  readonly weight?: number | null | undefined
  /** How severe an incident is, in upper case; unknown unless given. */
  readonly severity?: string | undefined
  readonly iid?: number | undefined
  readonly created_at?: string | undefined
}

/** Titles hold something, and at most 255 characters. */
export function assertTitle(title: string): void {
  if (title.trim() === '') throw invalid({ title: ["can't be blank"] })
  if ([...title].length > 255) throw invalid({ title: ['is too long (maximum is 255 characters)'] })
}

/** The milestone if the project may use it; 0 and null are none, others that do not fit are left out. */
export async function milestoneFor(
  ctx: Ctx,
  project: Project,
  id: number | null | undefined,
): Promise<number | null> {
  if (!id) return null
  return (await findUsableMilestone(ctx.db, placeOfProject(project), id))?.id ?? null
}

/** Creates an issue with all that hangs on it, in one transaction (docs/contract/D §1.9 Create). */
export async function createIssue(
  ctx: Ctx,
  project: Project,
  input: IssueInput,
): Promise<IssueRow> {
  assertTitle(input.title)
  return inTransaction(ctx, async (ctx) => {
    const values = await valuesOf(ctx, project, input)
    const taken = { 'issues.project_id, issues.iid': () => conflict('Duplicated issue') }
    const id = await uniquely(taken, () => insertIssue(ctx.db, values))
    const subject = { type: 'issue', id } as const
    await sort(ctx, project, id, input)
    await recordMilestoneEvent(ctx, subject, null, values.milestone_id)
    if (values.weight !== null) await recordWeightEvent(ctx, subject, values.weight)
    await runEffects(ctx, ctx.effects.activity, {
      projectId: project.id,
      action: 'opened',
      targetType: 'Issue',
      targetId: id,
      targetIid: values.iid,
      targetTitle: values.title,
    })
    const row = await getRow(ctx, id)
    const text = `${row.title}\n\n${row.description ?? ''}`
    await followText(ctx, { type: 'Issue', id, commitId: null, iid: row.iid, project }, text)
    const after = await readIssueState(ctx, row)
    await runEffects(ctx, ctx.effects.issueChanged, { project, after })
    return row
  })
}

async function valuesOf(ctx: Ctx, project: Project, input: IssueInput) {
  const author = userOf(ctx.actor)
  if (!author) throw unauthorized()
  const created = input.created_at ?? ctx.now()
  return {
    iid: await iidFor(ctx, project, input.iid),
    project_id: project.id,
    title: input.title.trim(),
    description: input.description,
    issue_type: input.issue_type,
    author_id: author.id,
    milestone_id: await milestoneFor(ctx, project, input.milestone_id),
    confidential: input.confidential ?? false,
    discussion_locked: input.discussion_locked ? 1 : null,
    weight: input.weight ?? null,
    severity: input.severity ?? 'UNKNOWN',
    due_date: input.due_date,
    start_date: input.start_date,
    created_at: created,
    updated_at: created,
  } as const
}

async function sort(ctx: Ctx, project: Project, id: number, input: IssueInput): Promise<void> {
  const labels = await setLabels(ctx, project, 'issue', id, { labels: input.labels ?? [] })
  await recordLabelEvents(ctx, { type: 'issue', id }, labels.added, [])
  const people = await setAssignees(ctx, project, 'issue', id, input.assignee_ids ?? [])
  const target = { type: 'Issue', id, projectId: project.id } as const
  const ids = people.added.map((user) => user.id)
  await addTodos(ctx, target, 'assigned', ids)
}

async function iidFor(ctx: Ctx, project: Project, asked: number | undefined): Promise<number> {
  if (asked === undefined) return nextIid(ctx.db, project.id, 'issue')
  if (asked < 1) throw invalid({ iid: ['must be greater than 0'] })
  await reserveIid(ctx.db, project.id, 'issue', asked)
  return asked
}

export async function getRow(ctx: Ctx, id: number): Promise<IssueRow> {
  return existing(await findIssueById(ctx.db, id), 'Issue')
}
