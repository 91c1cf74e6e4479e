import { entryStarts, parseTree } from '../objects/parse-object.ts'
import { emptyTree, type ObjectId } from '../types.ts'
import type { ObjectWriter } from './object-writer.ts'

/** What stands in a folder under a name, unless it is a folder that was opened. */
export interface Entry {
  readonly mode: number
  readonly id: ObjectId
}

export const treeMode = 0o040000

/** A folder that is being changed. Names are bytes, kept as text of one character each. */
export class Folder {
  changed: boolean
  readonly #id: ObjectId | undefined
  /** The bytes of entries that are stored already, new entries, and folders that were opened. */
  readonly #entries = new Map<string, Buffer | Entry | Folder>()

  /** Without an id it is a new one. */
  constructor(id: ObjectId | undefined, data: Buffer) {
    this.#id = id
    this.changed = id === undefined
    const starts = entryStarts(id ?? emptyTree, data)
    for (let i = 1; i < starts.length; i += 1) {
      const bytes = data.subarray(starts[i - 1], starts[i])
      this.#entries.set(bytes.toString('latin1', bytes.indexOf(space) + 1, bytes.indexOf(0)), bytes)
    }
  }

  get(name: string): Entry | Folder | undefined {
    const found = this.#entries.get(name)
    return Buffer.isBuffer(found) ? parseTree(this.#id ?? emptyTree, found)[0] : found
  }

  set(name: string, entry: Entry | Folder): void {
    this.#entries.set(name, entry)
  }

  delete(name: string): void {
    this.#entries.delete(name)
  }

  isEmpty(): boolean {
    return this.#entries.size === 0
  }

  /** Hands what changed to the writer and gives the folder's id. */
  async write(writer: ObjectWriter): Promise<ObjectId> {
    if (!this.changed && this.#id !== undefined) return this.#id
    const entries: { key: string; bytes: Buffer }[] = []
    for (const [name, entry] of this.#entries) {
      const bytes = Buffer.isBuffer(entry) ? entry : await entryBytes(name, entry, writer)
      // git sorts a folder as if its name ended with a slash.
      entries.push({ key: bytes[0] === startOfTreeMode ? `${name}/` : name, bytes })
    }
    entries.sort((a, b) => (a.key < b.key ? -1 : 1))
    return writer.add('tree', Buffer.concat(entries.map(({ bytes }) => bytes)))
  }
}

const space = 0x20
/** Modes are written without zeros at their start. */
const startOfTreeMode = 0x34

async function entryBytes(
  name: string,
  entry: Entry | Folder,
  writer: ObjectWriter,
): Promise<Buffer> {
  const isFolder = entry instanceof Folder
  const { mode, id } = isFolder ? { mode: treeMode, id: await entry.write(writer) } : entry
  const head = Buffer.from(`${mode.toString(8)} ${name}\0`, 'latin1')
  return Buffer.concat([head, Buffer.from(id, 'hex')])
}
