import type { OpenRepository } from '../engine/open-repository.ts'
import { historyWith } from '../history/graph/load.ts'
import { mergeBases } from '../history/graph/paint.ts'
import { readTyped } from '../objects/objects.ts'
import { parseCommit } from '../objects/parse-object.ts'
import { rootTree } from '../objects/tree-walk.ts'
import { emptyTreeIn, formatOfId, type ObjectId } from '../types.ts'
import { ObjectWriter } from '../write/object-writer.ts'
import { type GitMerge, mergeByGit } from './git-merge.ts'
import { type JoinedTrees, joinTrees, type ThreeTrees } from './tree-merge.ts'

/** What a merge, pick or revert came to. */
export type Combined = JoinedTrees

export type Conflicting = Extract<Combined, { readonly outcome: 'conflict' }>

export type Combination =
  | { readonly kind: 'merge'; readonly ours: ObjectId; readonly theirs: ObjectId }
  | {
      readonly kind: 'cherry-pick' | 'revert'
      readonly commit: ObjectId
      readonly onto: ObjectId
      /** Of a merge commit, the parent whose side is kept: 1 is the first; 0 for other commits. */
      readonly mainline: number
    }

/** What is to be joined: by us, where there is one base; and by git, should we not manage. */
interface Plan {
  readonly trees?: ThreeTrees
  readonly forGit: GitMerge
}

/** Undefined for unrelated histories. */
async function plan(
  repository: OpenRepository,
  combination: Combination,
): Promise<Plan | undefined> {
  if (combination.kind !== 'merge') {
    const { commit, onto, mainline, kind } = combination
    const picked = parseCommit(commit, await readTyped(repository, commit, 'commit'))
    const parent = picked.parentIds[Math.max(mainline - 1, 0)]
    const before =
      parent === undefined ? emptyTreeIn(formatOfId(commit)) : await rootTree(repository, parent)
    const ours = await rootTree(repository, onto)
    const { treeId: after } = picked
    const trees =
      kind === 'revert'
        ? { base: after, ours, theirs: before }
        : { base: before, ours, theirs: after }
    return { trees, forGit: trees }
  }
  const { ours, theirs } = combination
  // First, since reading them gives a typed error for what is no commit.
  const [mine = '', others = ''] = await Promise.all(
    [ours, theirs].map((id) => rootTree(repository, id)),
  )
  const history = await historyWith(repository, [ours, theirs])
  const [base, ...more] = mergeBases(history, history.at(ours), [history.at(theirs)])
  if (base === undefined) return undefined
  // git merges several bases with one another first.
  if (more.length > 0) return { forGit: { ours, theirs } }
  const before = await rootTree(repository, history.idOf(base))
  return { trees: { base: before, ours: mine, theirs: others }, forGit: { ours, theirs } }
}

async function join(
  repository: OpenRepository,
  combination: Combination,
  newWriter: () => ObjectWriter | undefined,
  signal: AbortSignal,
): Promise<{ readonly combined: Combined; readonly writer: ObjectWriter | undefined }> {
  const merge = await plan(repository, combination)
  // git refuses to merge what has no common commit.
  if (!merge) return { combined: { outcome: 'conflict', paths: [] }, writer: undefined }
  if (merge.trees) {
    const writer = newWriter()
    const combined = await joinTrees(repository, merge.trees, writer, signal)
    if (combined) return { combined, writer }
  }
  const writer = newWriter()
  return { combined: await mergeByGit(repository, merge.forGit, writer, signal), writer }
}

/** Merges, picks or reverts; the objects of a clean result wait in the writer. No ref moves. */
export async function combine(
  repository: OpenRepository,
  combination: Combination,
  signal: AbortSignal,
): Promise<
  | { readonly outcome: 'clean'; readonly treeId: ObjectId; readonly writer: ObjectWriter }
  | Conflicting
> {
  const newWriter = () => new ObjectWriter(repository.path)
  const { combined, writer = newWriter() } = await join(repository, combination, newWriter, signal)
  return combined.outcome === 'clean' ? { ...combined, writer } : combined
}

/** Whether a merge, pick or revert would go well; nothing is written. */
export async function tryCombine(
  repository: OpenRepository,
  combination: Combination,
  signal: AbortSignal,
): Promise<{ readonly outcome: 'clean' } | Conflicting> {
  const { combined } = await join(repository, combination, () => undefined, signal)
  return combined.outcome === 'clean' ? { outcome: 'clean' } : combined
}
