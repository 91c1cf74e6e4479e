import { engineCall } from '../engine/engine-call.ts'
import { operation } from '../engine/operation.ts'
import { type PickInput, pick } from './cherry-pick.ts'

export const revertOperation = operation({
  name: 'revert',
  lane: 'heavy',
  writes: true,
  run: ({ repository, signal }, input: PickInput) => pick(repository, 'revert', input, signal),
})

/** Takes a commit's change back in a new commit; no ref moves (docs/contract/B-resolved §2.4). */
export const revert = engineCall(revertOperation)
