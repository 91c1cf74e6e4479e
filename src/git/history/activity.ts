import { engineCall } from '../engine/engine-call.ts'
import type { ObjectId } from '../types.ts'
import { historyWith } from './graph/load.ts'
import { walkOver } from './log-source.ts'

const week = 7 * 24 * 3600
/** The first Monday of 1970: weeks begin on Mondays, UTC. */
const firstMonday = 4 * 24 * 3600

/** How many commits were made in a week, by the committer's date. */
export interface Week {
  /** Seconds since 1970 of its start. */
  readonly start: number
  readonly commits: number
}

/** The weeks in which commits that a commit contains were made, the oldest first; weeks without any are left out. */
export const countByWeek = engineCall({
  name: 'countByWeek',
  lane: 'heavy',
  async run({ repository }, tip: ObjectId): Promise<Week[]> {
    const history = await historyWith(repository, [tip])
    const counts = new Map<number, number>()
    for (const position of walkOver(history, { include: [tip], exclude: [] }).all()) {
      const number = Math.floor((history.dateOf(position) - firstMonday) / week)
      counts.set(number, (counts.get(number) ?? 0) + 1)
    }
    return [...counts]
      .sort(([a], [b]) => a - b)
      .map(([number, commits]) => ({ start: firstMonday + number * week, commits }))
  },
})
