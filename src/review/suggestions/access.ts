import {
  assertMayInProject,
  findProjectWithRole,
  getVisibleProject,
  type Project,
} from '../../access/subjects.ts'
import { forbidden, notFound, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { SuggestionRow } from '../../discussions/notes/suggestion-queries.ts'
import { mayPushBranch } from '../../repositories/refs/check-rules.ts'
import { reload } from '../merge-requests/find.ts'
import type { MergeRequestRow } from '../merge-requests/row.ts'

/** The merge request of a suggestion, its project, and the project whose branch the suggestion changes. */
export interface SuggestedBranch {
  readonly row: MergeRequestRow
  readonly target: Project
  readonly source: Project
}

/** The branch of a suggestion: 404 for who can't see the merge request, 403 for who may not push there. */
export async function getSuggestedBranch(ctx: Ctx, first: SuggestionRow): Promise<SuggestedBranch> {
  const row = await reload(ctx, first.merge_request_id)
  const target = await seenTarget(ctx, row)
  const source = await findProjectWithRole(ctx, row.source_project_id)
  if (!source || !(await mayPushBranch(ctx, source, row.source_branch))) throw forbidden()
  return { row, target, source }
}

async function seenTarget(ctx: Ctx, row: MergeRequestRow): Promise<Project> {
  try {
    const project = await getVisibleProject(ctx, String(row.target_project_id))
    assertMayInProject(ctx, project, 'read_merge_requests')
    return project
  } catch (error) {
    if (error instanceof Problem) throw notFound('Suggestion')
    throw error
  }
}
