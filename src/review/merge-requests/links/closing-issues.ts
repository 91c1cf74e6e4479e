import { viewerOf } from '../../../access/visible-queries.ts'
import type { Ctx } from '../../../ctx.ts'
import { findClosedIssues } from '../../../markdown/find-references.ts'
import { targetSetting } from '../facts.ts'
import { setClosingIssues } from '../queries.ts'
import type { MergeRequestRow } from '../row.ts'
import { findIssueByPath, listClosingIssues, listSeenIssueIds } from './closing-issue-queries.ts'

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
  for (const { project, iid } of closesIssues(row) ? namedIn(ctx, row, messages) : []) {
    const issue = await findIssueByPath(ctx.db, project, iid)
    if (issue) ids.add(issue.id)
  }
  await setClosingIssues(ctx.db, row.id, [...ids])
}

/** Most issues that one merge closes. */
const mostIssues = 100

function namedIn(ctx: Ctx, row: MergeRequestRow, messages: readonly string[]) {
  const found = new Map<string, { readonly project: string; readonly iid: number }>()
  for (const text of [row.description ?? '', ...messages]) {
    for (const { project, iid } of findClosedIssues(text, ctx.config.externalUrl)) {
      const place = project ?? row.target_path
      found.set(`${place}#${iid}`, { project: place, iid })
      if (found.size >= mostIssues) return [...found.values()]
    }
  }
  return [...found.values()]
}

function closesIssues(row: MergeRequestRow): boolean {
  return (
    row.target_branch === row.target_default_branch &&
    targetSetting(row, 'autoclose_referenced_issues')
  )
}

/** References of the open issues that the merge will close, as far as the merger sees them: `#1`, `g/p#2`. */
export async function closingReferences(ctx: Ctx, row: MergeRequestRow): Promise<string[]> {
  const issues = await listClosingIssues(ctx.db, row.id)
  const ids = issues.map((issue) => issue.id)
  const seen = await listSeenIssueIds(ctx.db, viewerOf(ctx), ids)
  return issues
    .filter((issue) => issue.state === 'opened' && seen.has(issue.id))
    .map((issue) =>
      issue.project_id === row.target_project_id
        ? `#${issue.iid}`
        : `${issue.full_path}#${issue.iid}`,
    )
}
