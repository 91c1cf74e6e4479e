/** One row of a graph of commits: lanes are counted from 0. */
export interface LaneRow {
  /** Where the commit stands. */
  readonly at: number
  /** Lanes that end in the commit from above. */
  readonly into: readonly number[]
  /** Lanes that begin in the commit and go on below it, one for each parent that is still to come. */
  readonly out: readonly number[]
  /** Lanes that pass by, and have nothing to do with the commit. */
  readonly past: readonly number[]
  /** Lanes that go on below the row. */
  readonly below: readonly number[]
}

interface Linked {
  readonly id: string
  readonly parent_ids: readonly string[]
}

/**
 * Lays commits out in lanes, in the order of the list: each lane waits for one commit, and goes on to its first parent. A
 * parent that was listed before its child has no lane.
 */
export function lanesOf(commits: readonly Linked[]): LaneRow[] {
  const waiting: (string | undefined)[] = []
  const seen = new Set<string>()
  return commits.map(({ id, parent_ids: parents }) => {
    const into = indexesOf(waiting, (one) => one === id)
    const past = indexesOf(waiting, (one) => one !== undefined && one !== id)
    const at = into[0] ?? freeLane(waiting)
    for (const lane of into) waiting[lane] = undefined
    seen.add(id)
    const out = parents
      .filter((parent) => !seen.has(parent))
      .map((parent, index) => {
        const known = waiting.indexOf(parent)
        const lane = index === 0 ? at : known < 0 ? freeLane(waiting) : known
        waiting[lane] = parent
        return lane
      })
    return { at, into, past, out: [...new Set(out)], below: indexesOf(waiting, Boolean) }
  })
}

function freeLane(waiting: readonly (string | undefined)[]): number {
  const free = waiting.indexOf(undefined)
  return free < 0 ? waiting.length : free
}

function indexesOf<T>(all: readonly T[], fits: (one: T) => unknown): number[] {
  return all.flatMap((one, index) => (fits(one) ? [index] : []))
}

/** How many lanes the widest row has. */
export function widthOf(rows: readonly LaneRow[]): number {
  return 1 + Math.max(0, ...rows.flatMap(({ at, past, below }) => [at, ...past, ...below]))
}
