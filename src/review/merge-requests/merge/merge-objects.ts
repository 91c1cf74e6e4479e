import { unprocessable } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { countAheadBehind, findMergeBases } from '../../../git/history/merge-base.ts'
import { writeMerge } from '../../../git/merge/merge.ts'
import type { Repo } from '../../../git/repo.ts'
import type { ObjectId } from '../../../git/types.ts'
import type { Signer } from '../../../git/write/signer.ts'
import type { MergeMethod } from '../detailed-merge-status.ts'

/** What is to be merged, and how. */
export interface MergePlan {
  readonly method: MergeMethod
  readonly squash: boolean
  readonly source: ObjectId
  readonly target: ObjectId
  readonly merger: Signer
  /** The author of the merge request, whose work a squash commit is. */
  readonly author: Signer
  readonly mergeMessage: string
  readonly squashMessage: string
}

/** The commits of a merge, none of which any branch shows yet. */
export interface MergeObjects {
  readonly mergeCommitSha: ObjectId | null
  readonly squashCommitSha: ObjectId | null
  /** Where the target goes. */
  readonly newTarget: ObjectId
}

export function cannotBeMerged(): Error {
  return unprocessable('Branch cannot be merged')
}

/** Writes what a merge by the project's method needs (docs/contract/D §1.10 Methods); 422 when it is not possible. */
export async function writeMergeObjects(repo: Repo, plan: MergePlan): Promise<MergeObjects> {
  const [counted] = await countAheadBehind(repo, plan.target, [plan.source])
  if (!counted || counted.ahead === 0) throw cannotBeMerged()
  if (plan.method !== 'merge' && counted.behind > 0) throw cannotBeMerged()
  const squashCommitSha = plan.squash ? await writeSquash(repo, plan) : null
  const tip = squashCommitSha ?? plan.source
  if (plan.method === 'ff') return { mergeCommitSha: null, squashCommitSha, newTarget: tip }
  const merged = await writeMerge(repo, {
    ours: plan.target,
    theirs: tip,
    author: plan.merger,
    committer: plan.merger,
    message: plan.mergeMessage,
  })
  if (merged.outcome !== 'clean') throw cannotBeMerged()
  return { mergeCommitSha: merged.commitId, squashCommitSha, newTarget: merged.commitId }
}

/** All commits since the merge base as one; null when they change nothing together. */
async function writeSquash(repo: Repo, plan: MergePlan): Promise<ObjectId | null> {
  const [base] = await findMergeBases(repo, [plan.target, plan.source])
  if (base === undefined) throw cannotBeMerged()
  const squashed = await writeMerge(repo, {
    ours: base,
    theirs: plan.source,
    author: plan.author,
    committer: plan.merger,
    message: plan.squashMessage,
    squash: true,
  })
  if (squashed.outcome === 'conflict') throw cannotBeMerged()
  return squashed.outcome === 'clean' ? squashed.commitId : null
}

/** The default of a project that squashes single commits too only when a message is given (docs/contract/D §1.10). */
export async function isSingleCommit(
  ctx: Ctx,
  projectId: number,
  target: ObjectId,
  source: ObjectId,
): Promise<boolean> {
  const [counted] = await countAheadBehind(ctx.git.open(projectId), target, [source])
  return counted?.ahead === 1
}
