import { mayInProject } from '../../access/decide.ts'
import { getVisibleProject, type Project } from '../../access/subjects.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { assigneesBySubject } from '../assignees/verbs.ts'
import { labelsBySubject } from '../labels/set-labels.ts'
import { addSystemNote, copyNotes } from '../notes/verbs.ts'
import { closeIssueVia } from './change-issue.ts'
import { createIssue } from './create-issue.ts'
import { asNoteable } from './find.ts'
import { type IssueRow, updateIssue } from './queries.ts'

/** Moves an issue: a copy with its notes in the other project, the old one closed and pointing to it. */
export async function moveIssue(
  ctx: Ctx,
  project: Project,
  row: IssueRow,
  toProjectId: number,
): Promise<IssueRow> {
  if (toProjectId === project.id)
    throw badRequest('Cannot move issue to project it originates from!')
  if (row.moved_to_id !== null)
    throw badRequest('Cannot move issue due to insufficient permissions!')
  const target = await getVisibleProject(ctx, String(toProjectId))
  if (!mayInProject(ctx.actor, target, 'admin_issue')) {
    throw badRequest('Cannot move issue due to insufficient permissions!')
  }
  const labels = (await labelsBySubject(ctx, 'issue', [row.id])).get(row.id) ?? []
  const people = (await assigneesBySubject(ctx, 'issue', [row.id])).get(row.id) ?? []
  return inTransaction(ctx, async (ctx) => {
    const copy = await createIssue(ctx, target, {
      title: row.title,
      description: row.description,
      issue_type: row.issue_type,
      confidential: row.confidential === 1,
      weight: row.weight,
      due_date: row.due_date,
      start_date: row.start_date,
      labels: labels.map((label) => label.title),
      assignee_ids: people.map((user) => user.id),
    })
    const from = asNoteable(ctx, project, row)
    const to = asNoteable(ctx, target, copy)
    await copyNotes(ctx, from, to)
    await addSystemNote(ctx, from, 'moved', `moved to ${copy.project_path}#${copy.iid}`)
    await addSystemNote(ctx, to, 'moved', `moved from ${row.project_path}#${row.iid}`)
    await closeIssueVia(ctx, project, row, '')
    await updateIssue(ctx.db, row.id, { moved_to_id: copy.id })
    return copy
  })
}
