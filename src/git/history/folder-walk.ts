import type { OpenRepository } from '../engine/open-repository.ts'
import { readLinked } from '../objects/objects.ts'
import { typeOfMode } from '../objects/parse-object.ts'
import { lookUp, readTreeData, type WalkedEntry } from '../objects/tree-walk.ts'
import { emptyTrees, type ObjectId } from '../types.ts'
import { type BloomKeys, bloomKeys } from './graph/bloom.ts'
import type { History } from './graph/history.ts'
import { CommitQueue } from './graph/queue.ts'
import { byOrder, type FolderTree, type Sought, soughtOf, unchangedIn, without } from './sought.ts'

/** The last commits of a folder's entries as an earlier walk found them. */
export interface KnownCommits {
  readonly commitId: ObjectId
  readonly last: readonly (readonly [string, ObjectId])[]
}

interface FolderOptions {
  /** Empty for the root. */
  readonly path: string
  readonly entries: readonly WalkedEntry[]
  readonly known: KnownCommits | undefined
}

/** Of more entries than this, one is nearly always changed as far as filters show: the folder itself is read. */
const filtered = 150

/**
 * Finds the last commits of many entries in one walk. An entry goes back from commit to commit along the first parent
 * that has it unchanged; the commit all of whose parents have another is its last: what git's history of a path is.
 */
export class FolderWalk {
  readonly last = new Map<string, ObjectId>()
  readonly #repository: OpenRepository
  readonly #history: History
  readonly #sought: readonly Sought[]
  readonly #parts: readonly Buffer[]
  readonly #folderKeys: BloomKeys | undefined
  readonly #known: { readonly position: number; readonly last: FolderKnown } | undefined
  readonly #queue = new CommitQueue()
  /** The entries that have come to a commit. */
  readonly #at = new Map<number, readonly Sought[]>()

  constructor(
    repository: OpenRepository,
    history: History,
    { path, entries, known }: FolderOptions,
  ) {
    this.#repository = repository
    this.#history = history
    this.#parts = path === '' ? [] : path.split('/').map((part) => Buffer.from(part))
    this.#folderKeys = path === '' ? undefined : bloomKeys(path)
    // Elsewhere than among the ancestors it would never be met.
    if (known) this.#known = { position: history.find(known.commitId), last: new Map(known.last) }
    this.#sought = entries.map((entry, order) => soughtOf(entry, order))
  }

  start(position: number): void {
    this.#pass(position, this.#sought)
  }

  /** Looks at one commit; false when every entry has been found. */
  async step(): Promise<boolean> {
    const position = this.#queue.pop()
    if (position < 0) return false
    let here = this.#at.get(position) ?? []
    this.#at.delete(position)
    if (position === this.#known?.position) here = this.#takeKnown(here, this.#known.last)
    const parent = this.#history.parent(position, 0)
    if (parent < 0) this.#settle(position, here)
    else if (here.length > 0) await this.#compare(position, here)
    return true
  }

  #takeKnown(here: readonly Sought[], known: FolderKnown): readonly Sought[] {
    return here.filter(({ name }) => {
      const id = known.get(name)
      if (id === undefined) return true
      this.last.set(name, id)
      return false
    })
  }

  /** Passes each entry on to the first parent that has it as it is here. */
  async #compare(position: number, here: readonly Sought[]): Promise<void> {
    const first = this.#history.parent(position, 0)
    let left = this.#mayHaveChanged(position, first, here)
    this.#pass(first, without(here, left))
    for (let n = 0; left.length > 0; n += 1) {
      const parent = this.#history.parent(position, n)
      if (parent < 0) break
      const folder = await this.#folderAt(parent)
      const same = folder ? unchangedIn(folder, left) : []
      this.#pass(parent, same)
      left = without(left, same)
    }
    this.#settle(position, left)
  }

  /** The entries that the filters of the graph can't rule out. */
  #mayHaveChanged(position: number, first: number, here: readonly Sought[]): readonly Sought[] {
    const history = this.#history
    if (history.treeOf(position) === history.treeOf(first)) return []
    if (!history.mayHaveChanged(position, this.#folderKeys)) return []
    if (here.length > filtered) return here
    return here.filter(({ keys }) => history.mayHaveChanged(position, keys))
  }

  /** The folder's tree in a commit; undefined where it has none. */
  async #folderAt(position: number): Promise<FolderTree | undefined> {
    let treeId = this.#history.treeOf(position)
    if (emptyTrees.has(treeId)) return undefined
    // Root trees differ from commit to commit and would only wash out the cache.
    let data = await readLinked(this.#repository, treeId, 'tree')
    for (const part of this.#parts) {
      const entry = lookUp(treeId, data, part)
      if (!entry || typeOfMode(entry.mode) !== 'tree') return undefined
      treeId = entry.id
      data = await readTreeData(this.#repository, treeId)
    }
    return { treeId, data }
  }

  #pass(position: number, entries: readonly Sought[]): void {
    if (entries.length === 0) return
    const there = this.#at.get(position)
    if (there) {
      this.#at.set(position, [...there, ...entries].sort(byOrder))
      return
    }
    this.#at.set(position, entries)
    this.#queue.push(position, this.#history.levelOf(position))
  }

  #settle(position: number, entries: readonly Sought[]): void {
    if (entries.length === 0) return
    const id = this.#history.idOf(position)
    for (const { name } of entries) this.last.set(name, id)
  }
}

type FolderKnown = ReadonlyMap<string, ObjectId>
