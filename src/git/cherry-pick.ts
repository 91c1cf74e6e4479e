import { loadCommits } from './commit.ts'
import type { OpenRepository } from './engine/open-repository.ts'
import { operation } from './engine/operation.ts'
import type { Repo } from './repo.ts'
import type { ObjectId } from './types.ts'
import { commitObject } from './write/commit-object.ts'
import { type Combination, combine } from './write/native-merge.ts'
import { ObjectWriter } from './write/object-writer.ts'
import type { Signer } from './write/signer.ts'

export interface PickInput {
  readonly commit: ObjectId
  /** The commit that the new one follows. */
  readonly onto: ObjectId
  readonly author: Signer
  readonly committer: Signer
  readonly message: string
  /** Only find out how it would go; nothing but the objects of a merge is stored. */
  readonly dryRun?: boolean | undefined
}

/** How a pick went. `commitId` is missing after a dry run. */
export type Picked =
  | {
      readonly outcome: 'clean'
      readonly treeId: ObjectId
      readonly commitId?: ObjectId | undefined
    }
  | { readonly outcome: 'conflict'; readonly paths: readonly string[] }
  | { readonly outcome: 'empty' }

/** Stores a commit and gives its id; for use inside engine processes. */
export async function storeCommit(
  repository: OpenRepository,
  commit: Parameters<typeof commitObject>[0],
): Promise<ObjectId> {
  const writer = new ObjectWriter(repository.path)
  const id = await writer.add('commit', commitObject(commit))
  await writer.flush()
  return id
}

/** Picks or reverts one commit onto another; for use inside engine processes. */
export async function pick(
  repository: OpenRepository,
  kind: 'cherry-pick' | 'revert',
  input: PickInput,
): Promise<Picked> {
  const [commit, onto] = await loadCommits(repository, [input.commit, input.onto])
  // Merge commits are taken against their first parent (spec B §2.4).
  const mainline = (commit?.parentIds.length ?? 0) > 1 ? 1 : 0
  const combination: Combination = { kind, commit: input.commit, onto: input.onto, mainline }
  const combined = await combine(repository, combination)
  if (combined.outcome === 'conflict') return combined
  const { treeId } = combined
  if (treeId === onto?.treeId) return { outcome: 'empty' }
  if (input.dryRun) return { outcome: 'clean', treeId }
  const { author, committer, message } = input
  const parentIds = [input.onto]
  const commitId = await storeCommit(repository, { treeId, parentIds, author, committer, message })
  return { outcome: 'clean', treeId, commitId }
}

export const cherryPickOperation = operation({
  name: 'cherryPick',
  lane: 'heavy',
  writes: true,
  run: ({ repository }, input: PickInput) => pick(repository, 'cherry-pick', input),
})

/** Applies a commit's change onto another commit as a new commit; no ref moves (spec B §2.4). */
export function cherryPick(repo: Repo, input: PickInput, signal?: AbortSignal): Promise<Picked> {
  return repo.engine.run(cherryPickOperation, repo.path, input, signal)
}
