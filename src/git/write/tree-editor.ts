import type { OpenRepository } from '../engine/open-repository.ts'
import { GitError } from '../error.ts'
import type { ObjectId } from '../types.ts'
import { type Entry, Folder, treeMode } from './folder.ts'

function key(part: string): string {
  return Buffer.from(part).toString('latin1')
}

/** What stands at a path. */
export type Found =
  | { readonly kind: 'folder' }
  | { readonly kind: 'entry'; readonly entry: Entry }
  /** `above` is the leading part of the path that is a file, for which no folder can be made. */
  | { readonly kind: 'none'; readonly above?: string }

/**
 * A tree that is changed step by step, each step seeing the ones before. Reads only the folders that
 * are touched; nothing is stored before `store`.
 */
export class TreeEditor {
  readonly #repository: OpenRepository
  readonly #rootId: ObjectId
  #root: Folder | undefined
  /** Whether that is true of all folders that it has looked into. */
  hasUsualModes = true

  constructor(repository: OpenRepository, rootId: ObjectId) {
    this.#repository = repository
    this.#rootId = rootId
  }

  /** What stands at a path now. */
  async find(path: string): Promise<Found> {
    const parts = path.split('/')
    let at = await this.#top()
    for (const [i, part] of parts.entries()) {
      const entry = await this.#open(at, key(part))
      if (entry === undefined) return { kind: 'none' }
      const isLast = i === parts.length - 1
      if (!(entry instanceof Folder)) {
        return isLast
          ? { kind: 'entry', entry }
          : { kind: 'none', above: parts.slice(0, i + 1).join('/') }
      }
      at = entry
    }
    return { kind: 'folder' }
  }

  /** Puts an entry at a path, making the folders above it. */
  async put(path: string, entry: Entry): Promise<void> {
    const parts = path.split('/').map(key)
    const name = parts.pop() ?? ''
    let at = await this.#top()
    at.changed = true
    for (const part of parts) {
      const next = await this.#open(at, part)
      const folder = next instanceof Folder ? next : new Folder()
      if (folder !== next) at.set(part, folder)
      folder.changed = true
      at = folder
    }
    at.set(name, entry)
  }

  /** Takes an entry away, and the folders that it leaves empty. */
  async remove(path: string): Promise<void> {
    const parts = path.split('/').map(key)
    const trail: { folder: Folder; name: string }[] = []
    let at: Folder | Entry | undefined = await this.#top()
    for (const name of parts) {
      if (!(at instanceof Folder)) throw new GitError('not_found', `no path ${path}`)
      trail.push({ folder: at, name })
      at = await this.#open(at, name)
    }
    let empty = true
    for (const { folder, name } of trail.reverse()) {
      folder.changed = true
      if (empty) folder.set(name, undefined)
      empty = empty && folder.isEmpty()
    }
  }

  /** What has changed, by path; undefined for what is gone. */
  async changes(): Promise<ReadonlyMap<string, Entry | undefined>> {
    return new Map((await this.#top()).changes())
  }

  /** Stores the files and trees that have changed, and gives the id of the root. */
  async store(): Promise<ObjectId> {
    return await (await this.#top()).store(this.#repository)
  }

  async #top(): Promise<Folder> {
    this.#root ??= await this.#load(this.#rootId)
    return this.#root
  }

  /** An entry of a folder, read from disk when it is a folder not opened yet. */
  async #open(folder: Folder, name: string): Promise<Entry | Folder | undefined> {
    const entry = folder.get(name)
    if (entry === undefined || entry instanceof Folder || entry.mode !== treeMode) return entry
    if (!('id' in entry)) return entry
    const opened = await this.#load(entry.id)
    folder.set(name, opened)
    return opened
  }

  async #load(id: ObjectId): Promise<Folder> {
    const folder = await Folder.load(this.#repository, id)
    this.hasUsualModes &&= folder.hasUsualModes
    return folder
  }
}
