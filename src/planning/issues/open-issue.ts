import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { changeIssue, type IssueChanges } from './change-issue.ts'
import { createIssue, getRow, type IssueInput } from './create-issue.ts'
import type { IssueRow } from './queries.ts'
import { runIssueCommands, takeIssueCommands } from './quick-actions.ts'

/** Opens an issue; quick actions in its description are carried out and left out of it (docs/contract/D §1.11). */
export async function openIssue(ctx: Ctx, project: Project, input: IssueInput): Promise<IssueRow> {
  if (!input.description) return createIssue(ctx, project, input)
  const { text, commands } = takeIssueCommands(input.description)
  const row = await createIssue(ctx, project, { ...input, description: text })
  if (commands.length === 0) return row
  await runIssueCommands(ctx, project, row.id, commands)
  return getRow(ctx, row.id)
}

/** Changes an issue, with the quick actions of a new description. */
export async function editIssue(
  ctx: Ctx,
  project: Project,
  row: IssueRow,
  changes: IssueChanges,
): Promise<IssueRow> {
  if (!changes.description) return changeIssue(ctx, project, row, changes)
  const { text, commands } = takeIssueCommands(changes.description)
  const changed = await changeIssue(ctx, project, row, { ...changes, description: text })
  if (commands.length === 0) return changed
  await runIssueCommands(ctx, project, row.id, commands)
  return getRow(ctx, row.id)
}
