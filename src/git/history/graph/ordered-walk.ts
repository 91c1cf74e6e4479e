import type { History } from './history.ts'
import { CommitQueue } from './queue.ts'

export interface WalkOptions {
  readonly tips: readonly number[]
  readonly firstParent?: boolean | undefined
  /** Commits that are left out together with what only they lead to. */
  readonly hidden?: Uint8Array | undefined
  /** Seconds: a commit older than this is left out and not followed, as `git log --since` does. */
  readonly since?: number | undefined
}

/** A list of commits that is made as far as somebody looks. */
export interface LazyList {
  /** The commit at an index; −1 behind the end. */
  at(index: number): number
}

/** The commits reachable from some tips in the order of `git log`: newest first by date. */
export class DateWalk implements LazyList {
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

  at(index: number): number {
    while (this.#length <= index) {
      const position = this.#next()
      if (position < 0) return -1
      if (this.#length === this.#list.length) {
        const longer = new Int32Array(this.#length * 2)
        longer.set(this.#list)
        this.#list = longer
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

/**
 * The same commits so that no parent comes before its children (`git log --topo-order`). Children are
 * counted only as far down as the list was read: a commit is ready once everything newer by corrected
 * date was counted.
 */
export class TopoWalk implements LazyList {
  readonly #history: History
  readonly #options: WalkOptions
  /** Children still to come, plus one; 0 for commits not met yet. */
  readonly #waitingFor: Int32Array
  /** Commits whose parents are still to be counted. */
  readonly #counting = new CommitQueue()
  readonly #stack: number[] = []
  readonly #list: number[] = []

  constructor(history: History, options: WalkOptions) {
    this.#history = history
    this.#options = options
    this.#waitingFor = new Int32Array(history.size)
    const tips = [...new Set(options.tips)].filter((tip) => !options.hidden?.[tip])
    for (const tip of tips) this.#meet(tip)
    for (const tip of tips) this.#countAbove(history.levelOf(tip))
    // A stack hands out what came last, so the newest tip goes in last.
    const newestFirst = tips.toSorted((a, b) => history.dateOf(b) - history.dateOf(a))
    for (const tip of newestFirst.reverse()) {
      if (this.#waitingFor[tip] === 1) this.#stack.push(tip)
    }
  }

  at(index: number): number {
    while (this.#list.length <= index) {
      const position = this.#next()
      if (position < 0) return -1
      this.#list.push(position)
    }
    return this.#list[index] ?? -1
  }

  #meet(position: number): void {
    if (this.#waitingFor[position]) return
    this.#waitingFor[position] = 1
    this.#counting.push(position, this.#history.levelOf(position))
  }

  /** Counts the children of everything whose level is above the given one. */
  #countAbove(level: number): void {
    while (this.#counting.length > 0) {
      const next = this.#counting.first()
      if (this.#history.levelOf(next) <= level) break
      this.#counting.pop()
      this.#eachParent(next, (parent) => {
        this.#meet(parent)
        this.#waitingFor[parent] = (this.#waitingFor[parent] ?? 0) + 1
      })
    }
  }

  #next(): number {
    const { since } = this.#options
    for (let at = this.#stack.pop(); at !== undefined; at = this.#stack.pop()) {
      if (since !== undefined && this.#history.dateOf(at) < since) continue
      this.#countAbove(this.#history.levelOf(at) - 1)
      this.#eachParent(at, (parent) => {
        this.#countAbove(this.#history.levelOf(parent))
        const waiting = (this.#waitingFor[parent] ?? 0) - 1
        this.#waitingFor[parent] = waiting
        if (waiting === 1) this.#stack.push(parent)
      })
      return at
    }
    return -1
  }

  #eachParent(position: number, visit: (parent: number) => void): void {
    let n = 0
    for (let p = this.#history.parent(position, 0); p >= 0; ) {
      if (!this.#options.hidden?.[p]) visit(p)
      n += 1
      p = this.#options.firstParent ? -1 : this.#history.parent(position, n)
    }
  }
}
