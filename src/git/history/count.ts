import { engineCall } from '../engine/engine-call.ts'
import { operation } from '../engine/operation.ts'
import { historyWith } from './graph/load.ts'
import { DateWalk } from './graph/ordered-walk.ts'
import { hiddenFrom } from './graph/paint.ts'
import { resolveRange } from './log-range.ts'

export interface CountOptions {
  /** A branch, tag, id or range. */
  readonly revision: string
  readonly firstParent?: boolean | undefined
}

export const countCommitsOperation = operation({
  name: 'countCommits',
  lane: 'light',
  async run({ repository }, options: CountOptions): Promise<number> {
    const range = await resolveRange(repository, options.revision)
    const history = await historyWith(repository, [...range.include, ...range.exclude])
    const tips = range.include.map((id) => history.at(id))
    const exclude = range.exclude.map((id) => history.at(id))
    const hidden = exclude.length > 0 ? hiddenFrom(history, tips, exclude) : undefined
    return new DateWalk(history, { tips, hidden, firstParent: options.firstParent }).all().length
  },
})

/** How many commits a revision or range has (`rev-list --count`). */
export const countCommits = engineCall(countCommitsOperation)
