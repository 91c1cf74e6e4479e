import { parseTree } from '../objects/parse-object.ts'
import { lookUp } from '../objects/tree-walk.ts'
import { emptyTree, type ObjectId } from '../types.ts'
import type { ObjectWriter } from './object-writer.ts'
import { type Entry, TreeCursor, treeMode } from './tree-cursor.ts'

/** From so many questions on, a list of all names is worth making. */
const worthIndex = 16

/** A folder that is being changed: its bytes as they are stored, and what differs from them. */
export class Folder {
  changed: boolean
  readonly #id: ObjectId | undefined
  readonly #data: Buffer
  /** Undefined: not there any more. */
  readonly #changes = new Map<string, Entry | Folder | undefined>()
  #asked = 0
  #index: Map<string, Entry> | undefined
  /** Entries that are there now, once anybody wants to know. */
  #count: number | undefined

  /** Without an id it is a new one. */
  constructor(id: ObjectId | undefined, data: Buffer) {
    this.#id = id
    this.#data = data
    this.changed = id === undefined
  }

  get(name: string): Entry | Folder | undefined {
    return this.#changes.has(name) ? this.#changes.get(name) : this.#stored(name)
  }

  set(name: string, entry: Entry | Folder | undefined): void {
    if (this.#count !== undefined) {
      this.#count += Number(entry !== undefined) - Number(this.get(name) !== undefined)
    }
    this.#changes.set(name, entry)
  }

  isEmpty(): boolean {
    this.#count ??= this.#countEntries()
    return this.#count === 0
  }

  /** Hands what changed to the writer and gives the folder's id. */
  async write(writer: ObjectWriter): Promise<ObjectId> {
    if (!this.changed && this.#id !== undefined) return this.#id
    const entries: NamedEntry[] = []
    for (const [name, entry] of this.#changes) {
      if (entry === undefined) continue
      const isFolder = entry instanceof Folder
      const { mode, id } = isFolder ? { mode: treeMode, id: await entry.write(writer) } : entry
      entries.push({ key: sortKey(name, mode), name, mode, id })
    }
    return writer.add('tree', this.#bytes(entries))
  }

  #stored(name: string): Entry | undefined {
    if (this.#data.length === 0) return undefined
    this.#asked += 1
    if (this.#asked > worthIndex) return this.#indexed().get(name)
    const found = lookUp(this.#id ?? emptyTree, this.#data, Buffer.from(name, 'latin1'))
    return found && { mode: found.mode, id: found.id }
  }

  #indexed(): Map<string, Entry> {
    this.#index ??= new Map(
      parseTree(this.#id ?? emptyTree, this.#data).map(({ name, mode, id }) => [
        name.toString('latin1'),
        { mode, id },
      ]),
    )
    return this.#index
  }

  #countEntries(): number {
    let count = 0
    for (const entry of this.#changes.values()) if (entry !== undefined) count += 1
    for (const cursor = this.#cursor(); !cursor.isAtEnd; cursor.next()) {
      if (!this.#changes.has(cursor.name)) count += 1
    }
    return count
  }

  #cursor(): TreeCursor {
    return new TreeCursor(this.#data, (this.#id ?? emptyTree).length / 2)
  }

  /** The bytes of the tree object: those stored, with the changed entries in their places. */
  #bytes(entries: readonly NamedEntry[]): Buffer {
    const waiting = entries.toSorted((a, b) => (a.key < b.key ? 1 : -1))
    const pieces: Buffer[] = []
    let copied = 0
    const cursor = this.#cursor()
    for (; !cursor.isAtEnd; cursor.next()) {
      const { name, start, end } = cursor
      const place = sortKey(name, cursor.mode)
      const isGone = this.#changes.has(name)
      let next = waiting.at(-1)
      if (!isGone && (next === undefined || next.key > place)) continue
      pieces.push(this.#data.subarray(copied, start))
      for (; next && next.key <= place; next = waiting.at(-1)) {
        pieces.push(entryBytes(next))
        waiting.pop()
      }
      copied = isGone ? end : start
    }
    pieces.push(this.#data.subarray(copied), ...waiting.toReversed().map(entryBytes))
    return Buffer.concat(pieces)
  }
}

interface NamedEntry extends Entry {
  readonly name: string
  readonly key: string
}

/** git sorts a folder as if its name ended with a slash. */
function sortKey(name: string, mode: number): string {
  return mode === treeMode ? `${name}/` : name
}

function entryBytes({ mode, name, id }: NamedEntry): Buffer {
  const head = Buffer.from(`${mode.toString(8)} ${name}\0`, 'latin1')
  return Buffer.concat([head, Buffer.from(id, 'hex')])
}
