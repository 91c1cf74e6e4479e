import { engineCall } from '../engine/engine-call.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { treeOfCommit } from '../objects/commit.ts'
import type { ObjectId } from '../types.ts'
import { ObjectWriter } from '../write/object-writer.ts'
import type { Signer } from '../write/signer.ts'
import { combine } from './combine.ts'
import type { Conflicting } from './git-merge.ts'

export interface PickInput {
  /** Whether the commit's change is applied, or taken back. */
  readonly kind: 'cherry-pick' | 'revert'
  readonly commit: ObjectId
  /** The commit that the new one follows. */
  readonly onto: ObjectId
  readonly author: Signer
  readonly committer: Signer
  readonly message: string
  /** Only find out how it would go; nothing is stored. */
  readonly dryRun?: boolean | undefined
}

/** How a pick went. `commitId` is missing after a dry run. */
export type Picked =
  | {
      readonly outcome: 'clean'
      readonly treeId: ObjectId
      readonly commitId?: ObjectId | undefined
    }
  | Conflicting
  | { readonly outcome: 'empty' }

/** Picks or reverts one commit onto another; for use inside engine processes. */
export async function pick(
  repository: OpenRepository,
  input: PickInput,
  signal: AbortSignal,
): Promise<Picked> {
  const before = await treeOfCommit(repository, input.onto)
  const writer = new ObjectWriter(repository.path)
  const joined = await combine(repository, input, writer, signal)
  if (joined.outcome === 'conflict') return joined
  const { treeId } = joined
  if (treeId === before) return { outcome: 'empty' }
  if (input.dryRun) return { outcome: 'clean', treeId }
  const { author, committer, message } = input
  const parentIds = [input.onto]
  const commitId = await writer.flushCommit({ treeId, parentIds, author, committer, message })
  return { outcome: 'clean', treeId, commitId }
}

/** Applies or takes back a commit's change in a new commit after another; no ref moves (docs/contract/B-resolved §2.4). */
export const pickOnto = engineCall({
  name: 'pick',
  lane: 'heavy',
  writes: true,
  run: ({ repository, signal }, input: PickInput) => pick(repository, input, signal),
})
