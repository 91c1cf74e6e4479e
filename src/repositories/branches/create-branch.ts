import type { Project } from '../../access/subjects.ts'
import { invalidText } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Branch } from '../../git/branches.ts'
import { readCommit } from '../../git/commit.ts'
import { GitError } from '../../git/error.ts'
import { isBranchName } from '../../git/names.ts'
import { findRef } from '../../git/refs.ts'
import { noObject } from '../../git/types.ts'
import { isProhibited } from '../refs/gate.ts'
import { MoveRefused, moveRefs } from '../refs/move-refs.ts'
import { ifFound } from '../repository/missing.ts'

/** Makes a branch where a ref stands (spec B-resolved §4, D §1.5). */
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

/** Somebody was faster, or a branch `a` is in the way of `a/b`. */
function asTaken(error: unknown, name: string): unknown {
  if (!(error instanceof GitError)) return error
  if (error.code === 'stale' || error.code === 'exists') {
    return invalidText('Branch already exists')
  }
  if (error.code !== 'conflict') return error
  return invalidText(`Failed to create branch '${name}': another branch is in the way`)
}
