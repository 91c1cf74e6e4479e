import { findVisibleProject } from '../../../access/subjects.ts'
import { Problem } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { mayCloseIssues } from '../../../planning/issues/access.ts'
import { closeIssueVia } from '../../../planning/issues/change-issue.ts'
import { getIssue } from '../../../planning/issues/find.ts'
import type { MergeRequestRow } from '../row.ts'
import { listClosingIssues } from './closing-issue-queries.ts'

/** Closes the issues that a merge request names with a closing word, as far as the merger may (docs/contract/D §1.9). */
export async function closeIssuesOf(ctx: Ctx, row: MergeRequestRow): Promise<void> {
  for (const found of await listClosingIssues(ctx.db, row.id)) {
    if (found.state !== 'opened') continue
    const project = await findVisibleProject(ctx, String(found.project_id))
    if (!project) continue
    const own = project.id === row.target_project_id
    if (!own && !mayCloseIssues(ctx, project)) continue
    const issue = await getIssue(ctx, project, found.iid).catch((error: unknown) => {
      // An issue that the merger may not see stays open.
      if (error instanceof Problem) return undefined
      throw error
    })
    if (!issue) continue
    const reference = own ? `!${row.iid}` : `${row.target_path}!${row.iid}`
    const place = { id: row.target_project_id, full_path: row.target_path }
    const cause = { type: 'MergeRequest', id: row.id, commitId: null, project: place } as const
    await closeIssueVia(ctx, project, issue, ` via merge request ${reference}`, cause)
  }
}
