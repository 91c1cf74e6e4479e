import type { Ctx } from '../../../ctx.ts'
import { findClosedIssues } from '../../../markdown/find-references.ts'
import { targetSetting } from '../facts.ts'
import { setClosingIssues } from '../queries.ts'
import type { MergeRequestRow } from '../row.ts'
import { findIssueByPath, listClosingIssues } from './closing-issue-queries.ts'

/**
 * Notes which issues the merge will close: those that the description or a commit message names with a closing word,
 * when the target is the default branch (docs/contract/D §1.9). In the caller's transaction.
 */
export async function noteClosingIssues(
  ctx: Ctx,
  row: MergeRequestRow,
  messages: readonly string[] = [],
): Promise<void> {
  const ids = new Set<number>()
  if (closesIssues(row)) {
    for (const text of [row.description ?? '', ...messages]) {
      for (const { project, iid } of findClosedIssues(text, ctx.config.externalUrl)) {
        const issue = await findIssueByPath(ctx.db, project ?? row.target_path, iid)
        if (issue) ids.add(issue.id)
      }
    }
  }
  await setClosingIssues(ctx.db, row.id, [...ids])
}

function closesIssues(row: MergeRequestRow): boolean {
  return (
    row.target_branch === row.target_default_branch &&
    targetSetting(row, 'autoclose_referenced_issues')
  )
}

/** References of the open issues that the merge will close: `#1`, `g/p#2`. */
export async function closingReferences(ctx: Ctx, row: MergeRequestRow): Promise<string[]> {
  const issues = await listClosingIssues(ctx.db, row.id)
  return issues
    .filter((issue) => issue.state === 'opened')
    .map((issue) =>
      issue.project_id === row.target_project_id
        ? `#${issue.iid}`
        : `${issue.full_path}#${issue.iid}`,
    )
}
