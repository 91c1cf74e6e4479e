import { isBranchName } from '../../git/names.ts'
import { findRef, listRefs } from '../../git/refs/refs.ts'
import type { Repo } from '../../git/repo.ts'
import type { ObjectId } from '../../git/types.ts'

/** The commit at the tip of a branch; undefined when there is no such branch. */
export async function findTip(repo: Repo, branch: string): Promise<ObjectId | undefined> {
  return isBranchName(branch) ? (await findRef(repo, `refs/heads/${branch}`))?.id : undefined
}

/** Whether a repository has any branch yet. */
export async function hasBranches(repo: Repo): Promise<boolean> {
  return (await listRefs(repo, { prefix: 'refs/heads/', limit: 1 })).length > 0
}
