import type { History } from './history.ts'
import { CommitQueue, grown } from './queue.ts'

export interface WalkOptions {
  readonly tips: readonly number[]
  readonly firstParent?: boolean | undefined
  /** Commits that are left out together with what only they lead to. */
  readonly hidden?: Uint8Array | undefined
  /** Seconds: a commit older than this is left out and not followed, as `git log --since` does. */
  readonly since?: number | undefined
}

/**
 * The commits reachable from some tips in the order of `git log`, newest first by date: a list that is made as far as
 * somebody looks.
 */
export class DateWalk {
  readonly #history: History
  readonly #options: WalkOptions
  readonly #queue = new CommitQueue()
  readonly #seen: Uint8Array
  #list = new Int32Array(64)
  #length = 0

  constructor(history: History, options: WalkOptions) {
    this.#history = history
    this.#options = options
    this.#seen = new Uint8Array(history.size)
    for (const tip of options.tips) this.#enter(tip)
  }

  /** The commit at an index; −1 behind the end. */
  at(index: number): number {
    while (this.#length <= index) {
      const position = this.#next()
      if (position < 0) return -1
      if (this.#length === this.#list.length) {
        this.#list = grown(new Int32Array(this.#length * 2), this.#list)
      }
      this.#list[this.#length] = position
      this.#length += 1
    }
    return this.#list[index] ?? -1
  }

  /** The whole list. */
  all(): Int32Array {
    while (this.at(this.#length) >= 0);
    return this.#list.subarray(0, this.#length)
  }

  #enter(position: number): void {
    if (this.#seen[position] || this.#options.hidden?.[position]) return
    this.#seen[position] = 1
    this.#queue.push(position, this.#history.dateOf(position))
  }

  #next(): number {
    const { since, firstParent } = this.#options
    for (let position = this.#queue.pop(); position >= 0; position = this.#queue.pop()) {
      if (since !== undefined && this.#history.dateOf(position) < since) continue
      let n = 0
      for (let p = this.#history.parent(position, 0); p >= 0; ) {
        this.#enter(p)
        n += 1
        p = firstParent ? -1 : this.#history.parent(position, n)
      }
      return position
    }
    return -1
  }
}
