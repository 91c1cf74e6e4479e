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

/** Adds commits up by the exact e-mail address; the name is the newest one used. */
export class Tally {
  readonly #rows = new Map<string, TallyRow>()

  constructor(state: TallyState = []) {
    for (const row of state) this.#rows.set(row[0], row)
  }

  add(commit: NewCommit, [added, deleted]: LineCounts): void {
    const { email } = commit
    const row = this.#rows.get(email) ?? [email, commit.name, 0, 0, 0, 0]
    const [, name, commits, additions, deletions, newest] = row
    const isNewer = commit.seconds >= newest
    this.#rows.set(email, [
      email,
      isNewer ? commit.name : name,
      commits + 1,
      additions + added,
      deletions + deleted,
      Math.max(newest, commit.seconds),
    ])
  }

  state(): TallyState {
    return [...this.#rows.values()]
  }

  contributors() {
    return this.state().map(([email, name, commits, additions, deletions, newest]) => ({
      email,
      name,
      commits,
      additions,
      deletions,
      newest,
    }))
  }
}
