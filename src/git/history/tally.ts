import type { ObjectId } from '../types.ts'

/** Lines added and deleted. */
export type LineCounts = readonly [additions: number, deletions: number]

export interface NewCommit {
  readonly id: ObjectId
  readonly email: string
  readonly name: string
  readonly seconds: number
}

/** One address: e-mail, name, commits, additions, deletions, seconds of the newest commit. */
export type TallyRow = readonly [string, string, number, number, number, number]

/** Totals as they are kept: plain data that fits JSON. */
export type TallyState = readonly TallyRow[]

/** Adds commits, newest first, up by the exact e-mail address; the name is the newest one used. */
export function addUp(
  state: TallyState,
  commits: readonly NewCommit[],
  lines: ReadonlyMap<ObjectId, LineCounts>,
): TallyState {
  const rows = new Map(state.map((row) => [row[0], row]))
  // Oldest first, so that of two with the same time the later one gives the name.
  for (const { id, email, name, seconds } of commits.toReversed()) {
    const row = rows.get(email) ?? ([email, name, 0, 0, 0, 0] as const)
    const [, before, count, additions, deletions, newest] = row
    const [added, deleted] = lines.get(id) ?? [0, 0]
    rows.set(email, [
      email,
      seconds >= newest ? name : before,
      count + 1,
      additions + added,
      deletions + deleted,
      Math.max(newest, seconds),
    ])
  }
  return [...rows.values()]
}
