import type { OpenRepository } from '../engine/open-repository.ts'
import { mergeBasesOf } from '../history/merge-base.ts'
import { treeOfCommit } from '../objects/commit.ts'
import { readTyped } from '../objects/objects.ts'
import { parseCommit } from '../objects/parse-object.ts'
import { emptyTreeIn, formatOfId, type ObjectId } from '../types.ts'
import { TreeEditor } from '../write/tree-editor.ts'
import { type Conflicting, type GitMerge, mergeByGit, type ThreeTrees } from './git-merge.ts'
import { type MergedChanges, mergeNatively } from './native-merge.ts'

export type Combination =
  | { readonly kind: 'merge'; readonly ours: ObjectId; readonly theirs: ObjectId }
  | {
      readonly kind: 'cherry-pick' | 'revert'
      readonly commit: ObjectId
      readonly onto: ObjectId
    }

/** How it went: `changed` says whether the result differs from our side. */
export type Joined =
  | { readonly outcome: 'clean'; readonly changed: boolean; readonly treeId: ObjectId }
  | Conflicting

export type Tried = { readonly outcome: 'clean'; readonly changed: boolean } | Conflicting

interface Plan {
  readonly git: GitMerge
  /** The trees to join, where it is clear what the changes of both sides started from. */
  readonly trees: ThreeTrees | undefined
  readonly oursTree: ObjectId
}

async function plan(repository: OpenRepository, combination: Combination): Promise<Plan> {
  if (combination.kind === 'merge') {
    const { ours, theirs } = combination
    // A typed error for what is no commit.
    await Promise.all([ours, theirs].map((id) => readTyped(repository, id, 'commit')))
    const [base, ...others] = await mergeBasesOf(repository, ours, theirs)
    const isClear = base !== undefined && others.length === 0
    const oursTree = await treeOfCommit(repository, ours)
    return { git: { ours, theirs }, trees: isClear ? { base, ours, theirs } : undefined, oursTree }
  }
  const { commit, onto, kind } = combination
  const picked = parseCommit(commit, await readTyped(repository, commit, 'commit'))
  // Merge commits are taken against their first parent (docs/contract/B-resolved §2.4).
  const [parent] = picked.parentIds
  const before =
    parent === undefined ? emptyTreeIn(formatOfId(commit)) : await treeOfCommit(repository, parent)
  const ours = await treeOfCommit(repository, onto)
  const { treeId: after } = picked
  const theirsCommit = picked.parentIds.length === 1 ? commit : undefined
  const trees =
    kind === 'revert'
      ? { base: after, ours, theirs: before, baseCommit: commit }
      : { base: before, ours, theirs: after, baseCommit: parent, theirsCommit }
  return { git: trees, trees, oursTree: ours }
}

/** Finds out how a merge, pick or revert would go. Nothing is stored. */
export async function tryCombination(
  repository: OpenRepository,
  combination: Combination,
  signal: AbortSignal,
): Promise<Tried> {
  const planned = await plan(repository, combination)
  const changes = planned.trees && (await mergeNatively(repository, planned.trees))
  if (changes) return { outcome: 'clean', changed: changes.size > 0 }
  return await joinByGit(repository, planned, false, signal)
}

/** Merges, picks or reverts, and stores the tree of a clean result; no ref moves. */
export async function combine(
  repository: OpenRepository,
  combination: Combination,
  signal: AbortSignal,
): Promise<Joined> {
  const planned = await plan(repository, combination)
  const changes = planned.trees && (await mergeNatively(repository, planned.trees))
  const treeId = changes && (await storeChanges(repository, planned.oursTree, changes))
  if (treeId !== undefined)
    return { outcome: 'clean', changed: treeId !== planned.oursTree, treeId }
  return await joinByGit(repository, planned, true, signal)
}

async function joinByGit(
  repository: OpenRepository,
  { git, oursTree }: Plan,
  store: boolean,
  signal: AbortSignal,
): Promise<Joined> {
  const joined = await mergeByGit(repository, git, store, signal)
  if (joined.outcome === 'conflict') return joined
  return { ...joined, changed: joined.treeId !== oursTree }
}

/** Undefined where git would write other modes for what stands beside a change. */
async function storeChanges(
  repository: OpenRepository,
  tree: ObjectId,
  changes: MergedChanges,
): Promise<ObjectId | undefined> {
  const editor = new TreeEditor(repository, tree)
  for (const [path, entry] of changes) if (!entry) await editor.remove(path)
  for (const [path, entry] of changes) if (entry) await editor.put(path, entry)
  return editor.hasUsualModes ? await editor.store() : undefined
}
