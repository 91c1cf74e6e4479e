import { GitError } from '../error.ts'
import type { ObjectId } from '../types.ts'

/** An entry of a folder; its name is bytes, kept as text of one character each. */
export interface Entry {
  readonly mode: number
  readonly id: ObjectId
}

export const treeMode = 0o040000

const space = 0x20

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
