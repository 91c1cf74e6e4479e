import type { OpenRepository } from '../engine/open-repository.ts'
import { operation } from '../engine/operation.ts'
import { GitError } from '../error.ts'
import { clip } from '../names.ts'
import { resolveCommit } from '../objects/resolve.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'
import type { History } from './graph/history.ts'
import { historyWith } from './graph/load.ts'
import { aheadBehind, isAncestor, mergeBases, octopusBases } from './graph/paint.ts'

/** Resolves revisions and loads what they come from. */
async function positionsOf(
  repository: OpenRepository,
  revisions: readonly string[],
): Promise<{ history: History; positions: number[] }> {
  const found = await Promise.all(revisions.map((revision) => resolveCommit(repository, revision)))
  const ids = found.map(({ commitId }) => commitId)
  const history = await historyWith(repository, ids)
  return { history, positions: ids.map((id) => history.at(id)) }
}

const findMergeBasesOperation = operation({
  name: 'findMergeBases',
  lane: 'light',
  async run({ repository }, input: { readonly revisions: readonly string[] }): Promise<ObjectId[]> {
    const unknown: string[] = []
    for (const revision of input.revisions) {
      const found = await resolveCommit(repository, revision).catch((error) => {
        if (error instanceof GitError && error.code !== 'failed') return undefined
        throw error
      })
      if (!found) unknown.push(clip(revision))
    }
    if (unknown.length > 0) {
      throw new GitError('not_found', 'unknown revisions', { revisions: unknown.join(', ') })
    }
    const { history, positions } = await positionsOf(repository, input.revisions)
    const [first, second] = positions
    const bases =
      positions.length === 2 && first !== undefined && second !== undefined
        ? mergeBases(history, first, [second])
        : octopusBases(history, positions)
    return bases.map((base) => history.idOf(base))
  },
})

/** The best common ancestors of two commits, the newest first, in an engine process; none for unrelated histories. */
export async function mergeBasesOf(
  repository: OpenRepository,
  a: ObjectId,
  b: ObjectId,
): Promise<ObjectId[]> {
  const { history, positions } = await positionsOf(repository, [a, b])
  const [first = -1, second = -1] = positions
  return mergeBases(history, first, [second]).map((base) => history.idOf(base))
}

/**
 * The best common ancestors of all given revisions, the newest first; empty for unrelated histories.
 * `not_found` names the unknown revisions in `detail.revisions` (docs/contract/B-resolved §1.7).
 */
export function findMergeBases(
  repo: Repo,
  revisions: readonly string[],
  signal?: AbortSignal,
): Promise<ObjectId[]> {
  return repo.engine.run(findMergeBasesOperation, repo.path, { revisions }, signal)
}

export interface AheadBehind {
  readonly ahead: number
  readonly behind: number
}

const countAheadBehindOperation = operation({
  name: 'countAheadBehind',
  lane: 'light',
  async run(
    { repository },
    input: { readonly base: string; readonly tips: readonly string[] },
  ): Promise<AheadBehind[]> {
    const { history, positions } = await positionsOf(repository, [input.base, ...input.tips])
    const [base = -1, ...tips] = positions
    return tips.map((tip) => aheadBehind(history, tip, base))
  },
})

/** For each tip: how many commits it has that the base lacks, and the other way round. */
export function countAheadBehind(
  repo: Repo,
  base: string,
  tips: readonly string[],
  signal?: AbortSignal,
): Promise<AheadBehind[]> {
  return repo.engine.run(countAheadBehindOperation, repo.path, { base, tips }, signal)
}

const isAncestorOperation = operation({
  name: 'isAncestor',
  lane: 'light',
  async run(
    { repository },
    input: { readonly ancestor: string; readonly descendant: string },
  ): Promise<boolean> {
    const { history, positions } = await positionsOf(repository, [input.ancestor, input.descendant])
    const [ancestor = -1, descendant = -1] = positions
    return isAncestor(history, ancestor, descendant)
  },
})

/** Whether a commit is contained in another's history, or is the same. */
export function isAncestorOf(repo: Repo, ancestor: string, descendant: string): Promise<boolean> {
  return repo.engine.run(isAncestorOperation, repo.path, { ancestor, descendant })
}
