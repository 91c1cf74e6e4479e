import type { Project } from '../../access/subjects.ts'
import { existing, invalidText } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { isDamage } from '../../git/error.ts'
import { isBranchName } from '../../git/names.ts'
import { readCommit } from '../../git/objects/commit.ts'
import type { Branch } from '../../git/refs/branches.ts'
import type { Repo } from '../../git/repo.ts'
import type { ObjectId } from '../../git/types.ts'
import { branchStates } from '../refs/branch-state.ts'
import { ifFound } from '../repository/missing.ts'
import { presentBranch } from './entity.ts'
import { mergedCommits } from './merged.ts'

/** A branch by name: 400 for what can't be one, 404 `404 Branch Not Found` for what isn't. */
export async function getBranch(repo: Repo, name: string, signal?: AbortSignal): Promise<Branch> {
  if (!isBranchName(name)) throw invalidText('The branch refname is invalid')
  const commit = existing(await ifFound(readCommit(repo, `refs/heads/${name}`, signal)), 'Branch')
  return { name, commit }
}

/** Branches with how they are protected and whether they are merged. */
export async function presentBranches(
  ctx: Ctx,
  project: Project,
  branches: readonly Branch[],
  signal?: AbortSignal,
): Promise<ReturnType<typeof presentBranch>[]> {
  const repo = ctx.git.open(project.id)
  const ids = branches.map((branch) => branch.commit.id)
  const [stateOf, merged] = await Promise.all([
    branchStates(ctx, project),
    mergedUnlessDamaged(repo, project, ids, signal),
  ])
  return branches.map((branch) =>
    presentBranch(ctx, project, branch, {
      ...stateOf(branch.name),
      merged: merged.has(branch.commit.id),
    }),
  )
}

/** Other branches are shown while the default branch is damaged, of which nobody knows what it holds. */
async function mergedUnlessDamaged(
  ...asked: Parameters<typeof mergedCommits>
): Promise<ReadonlySet<ObjectId>> {
  try {
    return await mergedCommits(...asked)
  } catch (error) {
    if (isDamage(error)) return new Set()
    throw error
  }
}

/** One branch, as `presentBranches` shows several. */
export async function describeBranch(
  ctx: Ctx,
  project: Project,
  branch: Branch,
  signal?: AbortSignal,
): Promise<ReturnType<typeof presentBranch>> {
  const [shown] = await presentBranches(ctx, project, [branch], signal)
  if (!shown) throw new TypeError('one branch in, one out')
  return shown
}
