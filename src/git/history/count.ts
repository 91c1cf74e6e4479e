import { engineCall } from '../engine/engine-call.ts'
import { historyWith } from './graph/load.ts'
import { resolveRange } from './log-range.ts'
import { walkOver } from './log-source.ts'

export interface CountOptions {
  /** A branch, tag, id or range. */
  readonly revision: string
  readonly firstParent?: boolean | undefined
}

/** How many commits a revision or range has (`rev-list --count`). */
export const countCommits = engineCall({
  name: 'countCommits',
  lane: 'light',
  async run({ repository }, options: CountOptions): Promise<number> {
    const range = await resolveRange(repository, options.revision)
    const history = await historyWith(repository, [...range.include, ...range.exclude])
    return walkOver(history, range, { firstParent: options.firstParent }).all().length
  },
})
