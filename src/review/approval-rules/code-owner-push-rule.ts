import type { Ctx } from '../../ctx.ts'
import { branchOf, isCreation, isDeletion, type RefMove } from '../../repositories/refs/moves.ts'
import { rulesFor } from '../../repositories/refs/protection.ts'
import type { CheckedPush } from '../../repositories/refs/rules.ts'
import { readOwnedFiles } from './code-owner-rules.ts'
import type { OwnedFiles } from './code-owners.ts'

/** Files with owners change by merge requests only, where a rule of the branch says so (docs/contract/B-resolved §7). */
export async function codeOwnerRule(
  ctx: Ctx,
  { project, push, branchRules, objects }: CheckedPush,
  move: RefMove,
): Promise<string | undefined> {
  const branch = branchOf(move.name)
  if (push.via === 'merge' || branch === undefined || !objects) return undefined
  if (isCreation(move) || isDeletion(move)) return undefined
  if (!rulesFor(branchRules, branch).some((rule) => rule.codeOwners)) return undefined
  const paths = await objects.differingPaths(move.oldId, move.newId)
  const owned = await readOwnedFiles(ctx, project.id, move.oldId, paths)
  const patterns = owned.filter(({ entry }) => entry.owners.length > 0)
  return patterns.length === 0 ? undefined : ownedFilesText(patterns)
}

function ownedFilesText(owned: readonly OwnedFiles[]): string {
  const patterns = [...new Set(owned.map(({ entry }) => entry.pattern))]
  return [
    'Pushes to protected branches that contain changes to files that',
    'match patterns defined in `CODEOWNERS` are disabled for',
    'this project. Please submit these changes via a merge request.',
    '',
    'The following pattern(s) from `CODEOWNERS` were matched:',
    ...patterns.map((pattern) => `- ${pattern}`),
  ].join('\n')
}
