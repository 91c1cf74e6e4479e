import type { Project } from '../../access/subjects.ts'
import { maySeeIssue } from '../../access/visible-issues.ts'
import { existing, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Noteable } from '../../discussions/notes/noteable.ts'
import { assigneesBySubject } from '../assignees/verbs.ts'
import { issueUrl } from './present.ts'
import { findIssue, type IssueRow } from './queries.ts'

/** The issue of this number with the ids of its assignees if the caller may see it, or 404. */
export async function findSeenIssue(ctx: Ctx, project: Project, iid: number) {
  const issue = existing(await findIssue(ctx.db, project.id, iid))
  const assignees = (await assigneesBySubject(ctx, 'issue', [issue.id])).get(issue.id) ?? []
  const assigneeIds = assignees.map((user) => user.id)
  if (!maySeeIssue(ctx, project, issue, assigneeIds)) throw notFound()
  return { issue, assigneeIds }
}

/** The issue of this number if the caller may see it, or 404. */
export async function getIssue(ctx: Ctx, project: Project, iid: number): Promise<IssueRow> {
  return (await findSeenIssue(ctx, project, iid)).issue
}

/** The issue as notes need to know it. */
export function asNoteable(ctx: Ctx, project: Project, row: IssueRow): Noteable {
  return {
    type: 'Issue',
    id: row.id,
    commitId: null,
    iid: row.iid,
    project,
    authorId: row.author_id,
    locked: row.discussion_locked === 1,
    title: row.title,
    webUrl: issueUrl(ctx, row),
  }
}
