import type { Project } from '../../access/subjects.ts'
import { invalidText } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { isBranchName, isObjectId } from '../../git/names.ts'
import { readCommit } from '../../git/objects/commit.ts'
import type { Repo } from '../../git/repo.ts'
import type { ObjectId } from '../../git/types.ts'
import { isProhibited } from '../refs/prohibited-names.ts'
import { findTip, hasBranches } from '../repository/branch-tip.ts'
import { ifFound } from '../repository/missing.ts'

export interface Start {
  readonly branch: string
  readonly force: boolean
  readonly startBranch?: string | undefined
  readonly startSha?: string | undefined
  /** Another project of the fork network. */
  readonly startProject?: Project | undefined
}

/** Where a new commit is put on, and where its branch is now. */
export interface StartPoint {
  /** The parent; none for the first commit of a repository. */
  readonly parentId: ObjectId | undefined
  /** The tip of the branch; none when it is to be made. */
  readonly tipId: ObjectId | undefined
  /** Where the parent is, when that is another repository. */
  readonly from: Repo
}

/** Finds the parent of a new commit, in the order of checks of docs/contract/B-resolved §2.2. */
export async function findStart(ctx: Ctx, project: Project, input: Start): Promise<StartPoint> {
  const repo = ctx.git.open(project.id)
  const source = input.startProject ?? project
  const from = ctx.git.open(source.id)
  const shaCommit = input.startSha === undefined ? undefined : await findSha(from, input.startSha)
  const startBranch = input.startSha === undefined ? (input.startBranch ?? input.branch) : undefined
  const isOther = startBranch !== input.branch || source.id !== project.id
  const [tipId, otherId] = await Promise.all([
    findTip(repo, input.branch),
    isOther ? (shaCommit ?? findTip(from, startBranch ?? '')) : undefined,
  ])
  // The parent and the tip to be replaced must come of one look, or a commit in between is lost.
  const start = isOther ? otherId : tipId
  if (start === undefined && !(source.id === project.id && !(await hasBranches(repo)))) {
    throw invalidText('You can only create or edit files when you are on a branch')
  }
  if (isOther && tipId !== undefined && !input.force) {
    throw invalidText(
      `A branch called '${input.branch}' already exists. Switch to that branch in order to make changes`,
    )
  }
  if (tipId === undefined) assertNewName(input.branch)
  return { parentId: start, tipId, from }
}

async function findSha(repo: Repo, sha: string): Promise<ObjectId> {
  if (!isObjectId(sha)) throw invalidText(`Invalid start_sha '${sha}'`)
  const commit = await ifFound(readCommit(repo, sha))
  if (!commit) throw invalidText(`Cannot find start_sha '${sha}'`)
  return commit.id
}

function assertNewName(branch: string): void {
  if (isBranchName(branch) && !isProhibited(branch)) return
  throw invalidText(
    `Something went wrong when we tried to create '${branch}' for you: Branch name is invalid`,
  )
}
