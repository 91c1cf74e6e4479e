import { engineCall } from '../engine/engine-call.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { loadCommits } from '../objects/commit.ts'
import type { ObjectId } from '../types.ts'
import { commitObject } from '../write/commit-object.ts'
import type { Signer } from '../write/signer.ts'
import { combine } from './combine.ts'

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
  | { readonly outcome: 'conflict'; readonly paths: readonly string[] }
  | { readonly outcome: 'empty' }

/** Picks or reverts one commit onto another; for use inside engine processes. */
export async function pick(
  repository: OpenRepository,
  input: PickInput,
  signal: AbortSignal,
): Promise<Picked> {
  const [onto] = await loadCommits(repository, [input.onto])
  const combined = await combine(repository, input, signal)
  if (combined.outcome === 'conflict') return combined
  const { treeId, writer } = combined
  if (treeId === onto?.treeId) return { outcome: 'empty' }
  if (input.dryRun) return { outcome: 'clean', treeId }
  const { author, committer, message } = input
  const parentIds = [input.onto]
  const bytes = commitObject({ treeId, parentIds, author, committer, message })
  const commitId = await writer.add('commit', bytes)
  await writer.flush()
  return { outcome: 'clean', treeId, commitId }
}

/** Applies or takes back a commit's change in a new commit after another; no ref moves (docs/contract/B-resolved §2.4). */
export const pickOnto = engineCall({
  name: 'pick',
  lane: 'heavy',
  writes: true,
  run: ({ repository, signal }, input: PickInput) => pick(repository, input, signal),
})
