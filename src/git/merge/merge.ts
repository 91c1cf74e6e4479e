import { gitLines } from '../command.ts'
import { engineCall } from '../engine/engine-call.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { operation } from '../engine/operation.ts'
import { GitError } from '../error.ts'
import { assertObjectId } from '../names.ts'
import { loadCommits } from '../objects/commit.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'
import type { Signer } from '../write/signer.ts'
import { storeCommit } from '../write/write-changed.ts'
import { combine, tryCombination } from './combine.ts'
import type { Conflicting } from './git-merge.ts'
import { pick } from './pick.ts'

export interface MergeSides {
  /** The tip that the result follows: of the target branch. */
  readonly ours: ObjectId
  readonly theirs: ObjectId
}

/** What a merge would come to. */
export type MergeCheck = { readonly outcome: 'clean' } | Conflicting

export interface MergeInput extends MergeSides {
  readonly author: Signer
  readonly committer: Signer
  readonly message: string
  /** One ordinary commit on our side instead of a merge commit. */
  readonly squash?: boolean | undefined
}

/** How a merge went. */
export type Merged =
  | { readonly outcome: 'clean'; readonly treeId: ObjectId; readonly commitId: ObjectId }
  | Conflicting
  /** A squash that would change nothing. */
  | { readonly outcome: 'empty' }

export interface RebaseInput {
  /** The commits to move, oldest first. */
  readonly commits: readonly ObjectId[]
  readonly onto: ObjectId
  readonly committer: Signer
}

/** How a rebase went; after it `head` is the last new commit, or `onto` when nothing was left to move. */
export type Rebased =
  | { readonly outcome: 'clean'; readonly head: ObjectId; readonly count: number }
  | (Conflicting & { readonly commit: ObjectId })

/** Whether two commits merge without conflict, and which paths conflict when not. */
export const checkMerge = engineCall({
  name: 'checkMerge',
  lane: 'heavy',
  async run({ repository, signal }, { ours, theirs }: MergeSides): Promise<MergeCheck> {
    const joined = await tryCombination(repository, { kind: 'merge', ours, theirs }, signal)
    return joined.outcome === 'clean' ? { outcome: 'clean' } : joined
  },
})

async function merge(
  repository: OpenRepository,
  input: MergeInput,
  signal: AbortSignal,
): Promise<Merged> {
  const { ours, theirs, author, committer, message } = input
  const joined = await combine(repository, { kind: 'merge', ours, theirs }, signal)
  if (joined.outcome === 'conflict') return joined
  if (input.squash && !joined.changed) return { outcome: 'empty' }
  const { treeId } = joined
  const parentIds = input.squash ? [ours] : [ours, theirs]
  const commit = { treeId, parentIds, author, committer, message }
  const commitId = await storeCommit(repository, commit)
  return { outcome: 'clean', treeId, commitId }
}

/** Writes a merge commit, or with `squash` one ordinary commit; no ref moves. */
export const writeMerge = engineCall({
  name: 'writeMerge',
  lane: 'heavy',
  writes: true,
  run: ({ repository, signal }, input: MergeInput) => merge(repository, input, signal),
})

async function replay(
  repository: OpenRepository,
  input: RebaseInput,
  signal: AbortSignal,
): Promise<Rebased> {
  let head = input.onto
  let count = 0
  for (const commit of await loadCommits(repository, input.commits)) {
    if (signal.aborted) throw new GitError('timeout', 'the caller went away')
    if (commit.parentIds.length === 1 && commit.parentIds[0] === head) {
      // Already in its place: keeps its id, as git does.
      head = commit.id
      continue
    }
    const { author, message } = commit
    const { committer } = input
    const change = { kind: 'cherry-pick', commit: commit.id, onto: head } as const
    const picked = await pick(repository, { ...change, author, committer, message }, signal)
    if (picked.outcome === 'conflict') return { ...picked, commit: commit.id }
    // What the new base contains already is left out, as git does.
    if (picked.outcome === 'clean' && picked.commitId) {
      head = picked.commitId
      count += 1
    }
  }
  return { outcome: 'clean', head, count }
}

const rebaseOperation = operation({
  name: 'rebase',
  lane: 'heavy',
  writes: true,
  seconds: 120,
  run: ({ repository, signal }, input: RebaseInput) => replay(repository, input, signal),
})

/** More commits than this are not worth an answer in the time of a request. */
const mostRebased = 2000

/**
 * Writes the commits of `head` that `onto` lacks once more on top of `onto`, with their authors and
 * messages; merge commits and what became empty are left out. No ref moves.
 */
export async function rebase(
  repo: Repo,
  input: { readonly head: ObjectId; readonly onto: ObjectId; readonly committer: Signer },
  signal?: AbortSignal,
): Promise<Rebased> {
  const range = [assertObjectId(input.head), `^${assertObjectId(input.onto)}`]
  const commits = await gitLines({
    repo: repo.path,
    args: [
      ...['rev-list', '--reverse', '--topo-order', '--no-merges'],
      ...[`--max-count=${mostRebased + 1}`, ...range],
    ],
    signal,
  })
  if (commits.length > mostRebased) {
    throw new GitError('too_large', `more than ${mostRebased} commits to rebase`)
  }
  const { onto, committer } = input
  return repo.engine.run(rebaseOperation, repo.path, { commits, onto, committer }, signal)
}
