import { featureLevel } from '../access/features.ts'
import type { Project } from '../access/subjects.ts'
import { branchOf, isDeletion, type RefMove } from '../api/refs/moves.ts'
import type { Ctx } from '../ctx.ts'

// A push of many branches would fill the screen.
const maxHints = 3

/**
 * What the user reads after `remote:` when a push went well (spec D §3.6), each message with an
 * empty line around it.
 */
export function pushMessages(
  ctx: Ctx,
  project: Project | undefined,
  moved: readonly RefMove[],
  notices: readonly string[],
): string[] {
  const hints = project ? mergeRequestHints(ctx, project, moved) : []
  const blocks = [...notices.map((notice) => notice.split('\n')), ...hints]
  return blocks.length === 0 ? [] : ['', ...blocks.flatMap((lines) => [...lines, ''])]
}

function mergeRequestHints(ctx: Ctx, project: Project, moved: readonly RefMove[]): string[][] {
  if (moved.length === 0 || project.empty_repo === 1) return []
  if (project.settings.printing_merge_request_link_enabled === false) return []
  if (featureLevel(project.settings, 'merge_requests') === 'disabled') return []
  const branches = moved
    .filter((move) => !isDeletion(move))
    .flatMap((move) => branchOf(move.name) ?? [])
    .filter((branch) => branch !== project.default_branch)
  return branches.slice(0, maxHints).map((branch) => {
    const query = `merge_request%5Bsource_branch%5D=${encodeURIComponent(branch)}`
    const url = `${ctx.config.externalUrl}/${project.full_path}/-/merge_requests/new?${query}`
    return [`To create a merge request for ${branch}, visit:`, `  ${url}`]
  })
}
