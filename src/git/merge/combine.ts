import type { OpenRepository } from '../engine/open-repository.ts'
import { treeOfCommit } from '../objects/commit.ts'
import { readTyped } from '../objects/objects.ts'
import { parseCommit } from '../objects/parse-object.ts'
import { emptyTreeIn, formatOfId, type ObjectId } from '../types.ts'
import type { ObjectWriter } from '../write/object-writer.ts'
import { type GitMerge, type Joined, mergeByGit } from './git-merge.ts'

export type Combination =
  | { readonly kind: 'merge'; readonly ours: ObjectId; readonly theirs: ObjectId }
  | {
      readonly kind: 'cherry-pick' | 'revert'
      readonly commit: ObjectId
      readonly onto: ObjectId
    }

/** What git is to merge. */
async function plan(repository: OpenRepository, combination: Combination): Promise<GitMerge> {
  if (combination.kind === 'merge') {
    const { ours, theirs } = combination
    // A typed error for what is no commit.
    await Promise.all([ours, theirs].map((id) => readTyped(repository, id, 'commit')))
    return { ours, theirs }
  }
  const { commit, onto, kind } = combination
  const picked = parseCommit(commit, await readTyped(repository, commit, 'commit'))
  // Merge commits are taken against their first parent (docs/contract/B-resolved §2.4).
  const [parent] = picked.parentIds
  const before =
    parent === undefined ? emptyTreeIn(formatOfId(commit)) : await treeOfCommit(repository, parent)
  const ours = await treeOfCommit(repository, onto)
  const { treeId: after } = picked
  if (kind === 'revert') return { base: after, ours, theirs: before, baseCommit: commit }
  const theirsCommit = picked.parentIds.length === 1 ? commit : undefined
  return { base: before, ours, theirs: after, baseCommit: parent, theirsCommit }
}

/** Merges, picks or reverts. The objects of a clean result wait in the writer, if there is one; no ref moves. */
export async function combine(
  repository: OpenRepository,
  combination: Combination,
  writer: ObjectWriter | undefined,
  signal: AbortSignal,
): Promise<Joined> {
  return mergeByGit(repository, await plan(repository, combination), writer, signal)
}
