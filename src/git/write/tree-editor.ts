import type { OpenRepository } from '../engine/open-repository.ts'
import { GitError } from '../error.ts'
import { parseTree } from '../parse-object.ts'
import { readTreeData } from '../tree-walk.ts'
import type { ObjectId } from '../types.ts'
import type { ObjectWriter } from './object-writer.ts'

/** An entry of a folder; the name is the key under which the folder keeps it. */
export interface Entry {
  readonly mode: number
  readonly id: ObjectId
}

const treeMode = 0o040000

/** A folder that is being changed. Names are bytes, kept as text of one character each. */
interface Folder {
  /** As it is stored; undefined for a new one. */
  readonly id: ObjectId | undefined
  readonly entries: Map<string, Entry | Folder>
  changed: boolean
}

function isFolder(entry: Entry | Folder | undefined): entry is Folder {
  return entry !== undefined && 'entries' in entry
}

function key(part: string): string {
  return Buffer.from(part).toString('latin1')
}

/** What stands at a path. */
export type Found = { readonly kind: 'none' | 'folder' } | { readonly kind: 'entry'; entry: Entry }

/**
 * A tree that is changed step by step, each step seeing the ones before. Reads only the folders that
 * are touched and writes only those that changed.
 */
export class TreeEditor {
  readonly #repository: OpenRepository
  #root: Folder | undefined
  readonly #rootId: ObjectId

  constructor(repository: OpenRepository, rootId: ObjectId) {
    this.#repository = repository
    this.#rootId = rootId
  }

  /** What stands at a path now. */
  async find(path: string): Promise<Found> {
    const parts = path.split('/').map(key)
    let at = await this.#top()
    for (const [i, part] of parts.entries()) {
      const entry = await this.#open(at, part)
      if (entry === undefined) return { kind: 'none' }
      if (i === parts.length - 1)
        return isFolder(entry) ? { kind: 'folder' } : { kind: 'entry', entry }
      if (!isFolder(entry)) return { kind: 'none' }
      at = entry
    }
    return { kind: 'none' }
  }

  /** The shortest leading part of the path that is a file, for which no folder can be made. */
  async fileAbove(path: string): Promise<string | undefined> {
    const parts = path.split('/')
    let at = await this.#top()
    for (const [i, part] of parts.slice(0, -1).entries()) {
      const entry = await this.#open(at, key(part))
      if (entry === undefined) return undefined
      if (!isFolder(entry)) return parts.slice(0, i + 1).join('/')
      at = entry
    }
    return undefined
  }

  /** Puts an entry at a path, making the folders above it. */
  async put(path: string, entry: Entry): Promise<void> {
    const parts = path.split('/').map(key)
    const name = parts.pop() ?? ''
    let at = await this.#top()
    at.changed = true
    for (const part of parts) {
      const next = await this.#open(at, part)
      const folder: Folder = isFolder(next) ? next : newFolder()
      if (folder !== next) at.entries.set(part, folder)
      folder.changed = true
      at = folder
    }
    at.entries.set(name, entry)
  }

  /** Takes an entry away, and the folders that it leaves empty. */
  async remove(path: string): Promise<void> {
    const parts = path.split('/').map(key)
    const trail: { folder: Folder; name: string }[] = []
    let at: Folder | Entry | undefined = await this.#top()
    for (const name of parts) {
      if (!isFolder(at)) throw new GitError('not_found', `no path ${path}`)
      trail.push({ folder: at, name })
      at = await this.#open(at, name)
    }
    let empty = true
    for (const { folder, name } of trail.reverse()) {
      folder.changed = true
      if (empty) folder.entries.delete(name)
      empty = folder.entries.size === 0
    }
  }

  /** Hands the changed trees to the writer and gives the id of the root. */
  async write(writer: ObjectWriter): Promise<ObjectId> {
    return this.#root === undefined ? this.#rootId : writeFolder(this.#root, writer)
  }

  async #top(): Promise<Folder> {
    this.#root ??= await this.#load(this.#rootId)
    return this.#root
  }

  /** An entry of a folder, read from disk when it is a folder not opened yet. */
  async #open(folder: Folder, name: string): Promise<Entry | Folder | undefined> {
    const entry = folder.entries.get(name)
    if (entry === undefined || isFolder(entry) || entry.mode !== treeMode) return entry
    const opened = await this.#load(entry.id)
    folder.entries.set(name, opened)
    return opened
  }

  async #load(id: ObjectId): Promise<Folder> {
    const data = await readTreeData(this.#repository, id)
    const entries = new Map<string, Entry | Folder>()
    for (const { name, mode, id: entryId } of parseTree(id, data)) {
      entries.set(name.toString('latin1'), { mode, id: entryId })
    }
    return { id, entries, changed: false }
  }
}

function newFolder(): Folder {
  return { id: undefined, entries: new Map(), changed: true }
}

async function writeFolder(folder: Folder, writer: ObjectWriter): Promise<ObjectId> {
  if (!folder.changed && folder.id !== undefined) return folder.id
  const entries: NamedEntry[] = []
  for (const [name, entry] of folder.entries) {
    const { mode, id } = isFolder(entry)
      ? { mode: treeMode, id: await writeFolder(entry, writer) }
      : entry
    entries.push({ name, mode, id })
  }
  return writer.add('tree', treeObject(entries))
}

/** An entry with its name: bytes, kept as text of one character each. */
export interface NamedEntry extends Entry {
  readonly name: string
}

/** The bytes of a tree object, put together in one piece: folders of thousands of entries are common. */
export function treeObject(entries: readonly NamedEntry[]): Buffer {
  // git sorts a folder as if its name ended with a slash.
  const sortKey = ({ name, mode }: NamedEntry) => (mode === treeMode ? `${name}/` : name)
  const sorted = entries
    .map((entry) => ({ ...entry, key: sortKey(entry) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
  const heads = sorted.map(({ mode, name }) => `${mode.toString(8)} ${name}\0`)
  const idBytes = (sorted[0]?.id.length ?? 0) / 2
  // One byte for each character, since names are kept that way.
  const size = heads.reduce((sum, head) => sum + head.length + idBytes, 0)
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  for (const [i, head] of heads.entries()) {
    at += bytes.write(head, at, 'latin1')
    at += bytes.write(sorted[i]?.id ?? '', at, 'hex')
  }
  return bytes
}
