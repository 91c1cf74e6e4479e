import { GitError } from '../error.ts'
import type { ObjectId } from '../types.ts'

/** An entry of a folder; its name is bytes, kept as text of one character each. */
export interface Entry {
  readonly mode: number
  readonly id: ObjectId
}

export const treeMode = 0o040000

const space = 0x20
const slash = 0x2f

/** Goes through the bytes of a tree object entry by entry. */
export class TreeCursor {
  readonly data: Buffer
  readonly #idBytes: number
  /** Where the entry at hand begins and ends; the same at the end of the tree. */
  start = 0
  end = 0
  mode = 0
  #name = 0

  constructor(data: Buffer, idBytes: number) {
    this.data = data
    this.#idBytes = idBytes
    this.#read()
  }

  get isAtEnd(): boolean {
    return this.start >= this.data.length
  }

  get entry(): Entry {
    const id = this.data.toString('hex', this.end - this.#idBytes, this.end)
    return { mode: this.mode, id }
  }

  /** Its bytes as text of one character each. */
  get name(): string {
    return this.data.toString('latin1', this.#name, this.end - this.#idBytes - 1)
  }

  next(): void {
    this.start = this.end
    this.#read()
  }

  /** Which entry comes first; git sorts a folder as if its name ended with a slash. */
  compare(other: TreeCursor): number {
    if (this.isAtEnd || other.isAtEnd) return Number(this.isAtEnd) - Number(other.isAtEnd)
    for (let n = 0; ; n += 1) {
      const mine = this.#nameByte(n)
      const its = other.#nameByte(n)
      if (mine !== its) return mine - its
      if (mine <= 0) return 0
    }
  }

  /** Whether both have the same entry here, name and all. */
  isSame(other: TreeCursor): boolean {
    const size = this.end - this.start
    if (other.end - other.start !== size) return false
    const mine = this.data
    const its = other.data
    const from = other.start - this.start
    // Ids differ in their first byte mostly, names hardly ever.
    for (let at = this.end - 1; at >= this.start; at -= 1) {
      if (mine[at] !== its[at + from]) return false
    }
    return true
  }

  /** A byte of the name as it is sorted: after the last one a slash for folders, and then nothing. */
  #nameByte(n: number): number {
    const at = this.#name + n
    const last = this.end - this.#idBytes - 1
    if (at < last) return this.data[at] ?? 0
    return at === last && this.mode === treeMode ? slash : at === last ? 0 : -1
  }

  #read(): void {
    const { data, start } = this
    if (start >= data.length) {
      this.end = start
      return
    }
    let at = start
    let mode = 0
    for (; data[at] !== space && at < data.length; at += 1) mode = mode * 8 + (data[at] ?? 0) - 0x30
    this.#name = at + 1
    for (at += 1; data[at] !== 0 && at < data.length; at += 1);
    this.end = at + 1 + this.#idBytes
    this.mode = mode
    if (this.end > data.length) throw new GitError('failed', 'a tree object is damaged')
  }
}

/** Goes through three trees at once, in git's order. */
export class ThreeCursors {
  readonly base: TreeCursor
  readonly ours: TreeCursor
  readonly theirs: TreeCursor
  /** Which of them have the entry at hand. */
  inBase = false
  inOurs = false
  inTheirs = false

  constructor(base: TreeCursor, ours: TreeCursor, theirs: TreeCursor) {
    this.base = base
    this.ours = ours
    this.theirs = theirs
  }

  /** Goes to the next entry that any of them has; false when there is none. */
  next(): boolean {
    const { base, ours, theirs } = this
    if (this.inBase) base.next()
    if (this.inOurs) ours.next()
    if (this.inTheirs) theirs.next()
    const side = ours.compare(theirs) <= 0 ? ours : theirs
    const first = base.compare(side) <= 0 ? base : side
    if (first.isAtEnd) return false
    this.inBase = base.compare(first) === 0
    this.inOurs = ours.compare(first) === 0
    this.inTheirs = theirs.compare(first) === 0
    return true
  }

  /** Whether nobody has changed the entry at hand. */
  get isUnchanged(): boolean {
    const all = this.inBase && this.inOurs && this.inTheirs
    return all && this.ours.isSame(this.theirs) && this.base.isSame(this.ours)
  }
}
