import type { Project } from '../../access/subjects.ts'
import { invalidText } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { isBranchName } from '../../git/names.ts'
import { readCommit } from '../../git/objects/commit.ts'
import type { Branch } from '../../git/refs/branches.ts'
import { findRef, readHead } from '../../git/refs/refs.ts'
import type { Repo } from '../../git/repo.ts'
import { noObject } from '../../git/types.ts'
import { createCommit } from '../commits/create-commit.ts'
import { MoveRefused, moveRefs } from '../refs/move-refs.ts'
import { isProhibited } from '../refs/prohibited-names.ts'
import { hasBranches } from '../repository/branch-tip.ts'
import { ifFound } from '../repository/missing.ts'

/**
 * Makes a branch where a ref stands (docs/contract/B-resolved §4, D §1.5). In an empty repository the default branch gets a first
 * commit with a README, and the new branch begins there.
 */
export async function createBranch(
  ctx: Ctx,
  project: Project,
  name: string,
  ref: string,
): Promise<Branch> {
  if (!isBranchName(name) || isProhibited(name)) throw invalidText('Branch name is invalid')
  const repo = ctx.git.open(project.id)
  const full = `refs/heads/${name}`
  if (await findRef(repo, full)) throw invalidText('Branch already exists')
  if (await makeFirstCommit(ctx, project, repo, ref)) {
    const first = await findRef(repo, full)
    if (first) return { name, commit: await readCommit(repo, first.id) }
  }
  const commit = await ifFound(readCommit(repo, ref))
  if (!commit) throw invalidText(`Invalid reference name: ${ref}`)
  try {
    const move = { name: full, oldId: noObject, newId: commit.id }
    await moveRefs(ctx, project, { via: 'api', moves: [move] })
  } catch (error) {
    if (error instanceof MoveRefused) throw invalidText(error.reason)
    throw asTaken(error, name)
  }
  return { name, commit }
}

/** Whether the repository was empty, and `ref` means the branch that is its default one now. */
async function makeFirstCommit(
  ctx: Ctx,
  project: Project,
  repo: Repo,
  ref: string,
): Promise<boolean> {
  const head = (await hasBranches(repo)) ? undefined : (await readHead(repo)).ref
  if (head === undefined) return false
  const branch = head.slice('refs/heads/'.length)
  if (![branch, head, 'HEAD'].includes(ref)) return false
  try {
    await createCommit(ctx, project, {
      branch,
      force: false,
      message: 'Add README.md',
      actions: [{ kind: 'create', path: 'README.md', content: Buffer.alloc(0) }],
    })
  } catch (error) {
    // Of two that begin at once one finds the file of the other.
    if (!(await hasBranches(repo))) throw error
  }
  return true
}

/** Somebody was faster, or a branch `a` is in the way of `a/b`. */
function asTaken(error: unknown, name: string): unknown {
  if (!(error instanceof GitError)) return error
  if (error.code === 'stale' || error.code === 'exists') {
    return invalidText('Branch already exists')
  }
  if (error.code !== 'conflict') return error
  return invalidText(`Failed to create branch '${name}': another branch is in the way`)
}
