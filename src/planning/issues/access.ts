import { userOf } from '../../access/actor.ts'
import { type Condition, condition, mayOr } from '../../access/conditions.ts'
import { type Conditions, mayInProject } from '../../access/decide.ts'
import { projectRecord } from '../../access/records.ts'
import { assertMayInProject, getVisibleProject, type Project } from '../../access/subjects.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { integer } from '../../http/params.ts'
import { findSeenIssue, getIssue } from './find.ts'
import type { IssueRow } from './queries.ts'

function issueConditions(
  ctx: Ctx,
  issue: IssueRow,
  assigneeIds: readonly number[],
): Conditions & { readonly author: boolean; readonly assignee: boolean } {
  const user = userOf(ctx.actor)
  const author = user !== null && issue.author_id === user.id
  return {
    author,
    // Incidents are for Owners to delete (docs/contract/D §2.2).
    author_of_issue: author && issue.issue_type !== 'incident',
    assignee: user !== null && assigneeIds.includes(user.id),
    confidential: issue.confidential === 1,
  }
}

/** The issue of `:issue_iid`, if the caller may see it. */
export const onIssue = projectRecord('read_issues', {
  params: { issue_iid: integer() },
  find: ({ ctx, project, params }) => findSeenIssue(ctx, project, params.issue_iid),
  conditions: ({ ctx, issue, assigneeIds }) => issueConditions(ctx, issue, assigneeIds),
})

/** What the caller may do with an issue in passing, by quick actions. */
export function issueRights(
  ctx: Ctx,
  project: Project,
  issue: IssueRow,
  assigneeIds: readonly number[],
) {
  const conditions = issueConditions(ctx, issue, assigneeIds)
  return {
    takesPart: conditions.author || conditions.assignee,
    mayChange: mayInProject(ctx.actor, project, 'edit_issue', conditions),
    maySort: mayInProject(ctx.actor, project, 'update_issue'),
    mayMove: mayTakeIssues(ctx, project),
  }
}

/** Whether the caller may close issues of the project in passing, by commits and merges. */
export function mayCloseIssues(ctx: Ctx, project: Project): boolean {
  return mayInProject(ctx.actor, project, 'update_issue')
}

/** Whether the caller may move issues of this project, or move and copy others here. */
export function mayTakeIssues(ctx: Ctx, project: Project): boolean {
  return mayInProject(ctx.actor, project, 'admin_issue')
}

/** The issue of a project that a request names beside its own, if the caller may see it. */
export async function getIssueElsewhere(
  ctx: Ctx,
  project: Project,
  iid: number,
): Promise<IssueRow> {
  assertMayInProject(ctx, project, 'read_issues')
  return getIssue(ctx, project, iid)
}

interface Typed {
  readonly ctx: Ctx
  readonly project: Project
  readonly body: { readonly issue_type?: string | undefined }
}

/** Incidents are for Reporters and above to make (docs/contract/D §2.2). */
export const makesIncident: Condition<Typed> = condition(
  'issue_type incident: create_incident',
  ({ ctx, project, body }) =>
    mayOr(
      ctx,
      body.issue_type !== 'incident' || mayInProject(ctx.actor, project, 'create_incident'),
    ),
)

interface Transfer {
  readonly ctx: Ctx
  readonly project: Project
  readonly issue: IssueRow
  readonly body: { readonly to_project_id: number }
}

export const cannotMove = 'Cannot move issue due to insufficient permissions!'
const cannotClone = 'Cannot clone issue due to insufficient permissions!'

/** Issues move to another project, once, where the caller may take them. */
export const movesIssue: Condition<Transfer> = condition(
  'to_project_id: admin_issue there',
  async ({ ctx, project, issue, body }) => {
    if (body.to_project_id === project.id)
      return badRequest('Cannot move issue to project it originates from!')
    if (issue.moved_to_id !== null) return badRequest(cannotMove)
    const target = await getVisibleProject(ctx, String(body.to_project_id))
    return mayTakeIssues(ctx, target) || badRequest(cannotMove)
  },
)

/** Issues are copied by those who may take them at both ends. */
export const clonesIssue: Condition<Transfer> = condition(
  'to_project_id: admin_issue here and there',
  async ({ ctx, project, body }) => {
    if (!mayTakeIssues(ctx, project)) return badRequest(cannotClone)
    const target = await getVisibleProject(ctx, String(body.to_project_id))
    return mayTakeIssues(ctx, target) || badRequest(cannotClone)
  },
)

interface Link {
  readonly ctx: Ctx
  readonly body: { readonly target_project_id: string }
}

/** Issues are linked with those of projects whose issues the caller may read. */
export const linksIssue: Condition<Link> = condition(
  'target_project_id: read_issues there',
  async ({ ctx, body }) => {
    const target = await getVisibleProject(ctx, body.target_project_id)
    return mayOr(ctx, mayInProject(ctx.actor, target, 'read_issues'))
  },
)
