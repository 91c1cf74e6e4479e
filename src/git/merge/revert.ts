import { operation } from '../engine/operation.ts'
import type { Repo } from '../repo.ts'
import { type Picked, type PickInput, pick } from './cherry-pick.ts'

export const revertOperation = operation({
  name: 'revert',
  lane: 'heavy',
  writes: true,
  run: ({ repository, signal }, input: PickInput) => pick(repository, 'revert', input, signal),
})

/** Takes a commit's change back in a new commit; no ref moves (docs/contract/B-resolved §2.4). */
export function revert(repo: Repo, input: PickInput, signal?: AbortSignal): Promise<Picked> {
  return repo.engine.run(revertOperation, repo.path, input, signal)
}
