import type { Ctx } from '../../ctx.ts'
import { branchOf, isDeletion, type Refusal } from '../refs/moves.ts'
import type { CheckedPush } from '../refs/rules.ts'
import { isAnyLocked, refusalByLock } from './locks.ts'
import { findMissing, isLfsOn } from './objects.ts'

/** Large files that are missing, or that somebody else has locked (docs/contract/D §3.7, §3.8). */
export async function largeFileRule(ctx: Ctx, at: CheckedPush): Promise<readonly Refusal[]> {
  const { project, objects, push } = at
  if (!objects || !isLfsOn(project)) return []
  const missing = await findMissing(ctx, project, await objects.newPointers())
  if (missing) {
    const reason =
      'LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".'
    return push.moves.map(({ name }) => ({ name, reason }))
  }
  if (!(await isAnyLocked(ctx, project))) return []
  const refusals: Refusal[] = []
  for (const move of push.moves) {
    const branch = branchOf(move.name)
    if (branch === undefined || isDeletion(move)) continue
    const paths = await objects.changedPaths(move.newId)
    const reason = await refusalByLock(ctx, project, branch, paths)
    if (reason !== undefined) refusals.push({ name: move.name, reason })
  }
  return refusals
}
