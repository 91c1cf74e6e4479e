import { engineCall } from '../engine/engine-call.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import type { ObjectId } from '../types.ts'
import type { Signer } from '../write/signer.ts'
import { storeCommit } from '../write/write-changed.ts'
import { combine, tryCombination } from './combine.ts'
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

/** How a pick went. The ids are missing after a dry run. */
export type Picked =
  | {
      readonly outcome: 'clean'
      readonly treeId?: ObjectId | undefined
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
  if (input.dryRun) {
    const tried = await tryCombination(repository, input, signal)
    if (tried.outcome === 'conflict') return tried
    return { outcome: tried.changed ? 'clean' : 'empty' }
  }
  const joined = await combine(repository, input, signal)
  if (joined.outcome === 'conflict') return joined
  if (!joined.changed) return { outcome: 'empty' }
  const { treeId } = joined
  const { author, committer, message } = input
  const parentIds = [input.onto]
  const commit = { treeId, parentIds, author, committer, message }
  const commitId = await storeCommit(repository, commit)
  return { outcome: 'clean', treeId, commitId }
}

/** Applies or takes back a commit's change in a new commit after another; no ref moves (docs/contract/B-resolved §2.4). */
export const pickOnto = engineCall({
  name: 'pick',
  lane: 'heavy',
  writes: true,
  run: ({ repository, signal }, input: PickInput) => pick(repository, input, signal),
})
