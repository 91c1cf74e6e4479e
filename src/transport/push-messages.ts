import { featureLevel } from '../access/features.ts'
import type { Project } from '../access/subjects.ts'
import type { Ctx } from '../ctx.ts'
import { branchOf, isDeletion, type RefMove } from '../repositories/refs/moves.ts'
import { mergeRequestUrl } from '../review/merge-requests/present.ts'
import { applyPushOptions } from '../review/merge-requests/pushes/push-options.ts'
import { listOpenAt } from '../review/merge-requests/queries.ts'

// A push of many branches would fill the screen.
const maxHints = 3

/** What a push did and asked. */
export interface Pushed {
  readonly moved: readonly RefMove[]
  readonly options: readonly string[]
}

/**
 * Does what push options ask, and gives what the user reads after `remote:` when a push went well (docs/contract/D §3.6), each
 * message with an empty line around it.
 */
export async function pushMessages(
  ctx: Ctx,
  project: Project | undefined,
  { moved, options }: Pushed,
  notices: readonly string[],
): Promise<string[]> {
  const blocks = notices.map((notice) => notice.split('\n'))
  if (project) {
    const asked = { projectId: project.id, moves: moved, options }
    const warnings = await applyPushOptions(ctx, asked)
    if (warnings.length > 0) blocks.push(['WARNINGS:', ...warnings])
    blocks.push(...(await mergeRequestHints(ctx, project, moved)))
  }
  return blocks.length === 0 ? [] : ['', ...blocks.flatMap((lines) => [...lines, ''])]
}

async function mergeRequestHints(
  ctx: Ctx,
  project: Project,
  moved: readonly RefMove[],
): Promise<string[][]> {
  if (moved.length === 0 || project.empty_repo === 1) return []
  if (project.settings.printing_merge_request_link_enabled === false) return []
  if (featureLevel(project.settings, 'merge_requests') === 'disabled') return []
  const branches = moved
    .filter((move) => !isDeletion(move))
    .flatMap((move) => branchOf(move.name) ?? [])
    .filter((branch) => branch !== project.default_branch)
  const hints = branches.slice(0, maxHints).map((branch) => hintsOf(ctx, project, branch))
  return (await Promise.all(hints)).flat()
}

/** The merge requests that a branch has, or where it gets one. */
async function hintsOf(ctx: Ctx, project: Project, branch: string): Promise<string[][]> {
  const open = await listOpenAt(ctx.db, 'source', project.id, branch)
  if (open.length > 0) {
    return open.map((row) => [
      `View merge request for ${branch}:`,
      `  ${mergeRequestUrl(ctx, row)}`,
    ])
  }
  const query = `merge_request%5Bsource_branch%5D=${encodeURIComponent(branch)}`
  const url = `${ctx.config.externalUrl}/${project.full_path}/-/merge_requests/new?${query}`
  return [[`To create a merge request for ${branch}, visit:`, `  ${url}`]]
}
