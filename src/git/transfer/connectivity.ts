import { engineCall } from '../engine/engine-call.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { treeOfCommit } from '../objects/commit.ts'
import { readLoose, readLooseHeader } from '../objects/packs/loose-file.ts'
import {
  parseCommit,
  parseTag,
  parseTree,
  type RawEntry,
  typeOfMode,
} from '../objects/parse-object.ts'
import { readTreeData } from '../objects/tree-walk.ts'
import { emptyTrees, type ObjectId, type ObjectType } from '../types.ts'
import { listObjectFiles } from './quarantine.ts'

export interface ConnectivityInput {
  /** The folder of the new objects, each in a file of its own. */
  readonly quarantine: string
  readonly tip: ObjectId
  /** Commits that refs hold: whatever they lead to is there. */
  readonly whole: readonly ObjectId[]
}

/**
 * Whether all that a new tip leads to is there: its commits go back to ones that refs hold, and what their trees name
 * is new or stands at the same place in a parent. That is enough for most small pushes without a program. False says
 * nothing: a file that came from another place, or an older parent, takes a walk to tell, as `git rev-list` does it.
 */
export const isConnected = engineCall({
  name: 'isConnected',
  lane: 'light',
  inProcess: () => true,
  async run({ repository }, input: ConnectivityInput): Promise<boolean> {
    const { loose, others } = await listObjectFiles(input.quarantine)
    if (others.length > 0) return false
    return await new Connectivity(repository, loose, input.whole).holds(input.tip)
  },
})

/** Bytes of commits, tags and trees that are looked at: a small push has few, unless it is made to do harm. */
const readLimit = 1024 * 1024
/** The same of trees that were there before, which are taken apart in the main process. */
const beforeLimit = 4 * readLimit
/** The trees of all parents are held at once. */
const mostParents = 32

class Connectivity {
  readonly #repository: OpenRepository
  /** The new objects: their files by id. */
  readonly #fresh: ReadonlyMap<ObjectId, string>
  readonly #whole: ReadonlySet<ObjectId>
  readonly #wholeTrees = new Set<ObjectId>()
  #left = readLimit
  #leftBefore = beforeLimit

  constructor(repository: OpenRepository, files: readonly string[], whole: readonly ObjectId[]) {
    this.#repository = repository
    this.#fresh = new Map(files.map((path) => [path.split('/').slice(-2).join(''), path]))
    this.#whole = new Set(whole)
  }

  async holds(tip: ObjectId): Promise<boolean> {
    const waiting = [tip]
    const seen = new Set(waiting)
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      if (this.#whole.has(id)) continue
      const next = await this.#linksOf(id)
      if (!next) return false
      for (const link of next) {
        if (seen.has(link)) continue
        seen.add(link)
        waiting.push(link)
      }
    }
    return true
  }

  /** The commits that a new commit or tag goes back to; undefined when something of its own is not known. */
  async #linksOf(id: ObjectId): Promise<readonly ObjectId[] | undefined> {
    const tag = this.#read(id, 'tag')
    if (tag) {
      const { targetId, targetType } = parseTag(id, tag)
      return targetType === 'commit' || targetType === 'tag' ? [targetId] : undefined
    }
    const data = this.#read(id, 'commit')
    if (!data) return undefined
    const { treeId, parentIds } = parseCommit(id, data)
    if (parentIds.length > mostParents) return undefined
    const bases = await Promise.all(parentIds.map((parent) => this.#treeOf(parent)))
    return (await this.#isTreeWhole(treeId, bases)) ? parentIds : undefined
  }

  async #treeOf(commitId: ObjectId): Promise<ObjectId> {
    const data = this.#read(commitId, 'commit')
    return data
      ? parseCommit(commitId, data).treeId
      : await treeOfCommit(this.#repository, commitId)
  }

  /** Whether a tree holds only what is new and whole, or what one of the trees before it holds under the same name. */
  async #isTreeWhole(id: ObjectId, before: readonly ObjectId[]): Promise<boolean> {
    if (before.includes(id) || emptyTrees.has(id) || this.#wholeTrees.has(id)) return true
    const data = this.#read(id, 'tree')
    if (!data) return false
    const bases = await Promise.all(before.map((base) => this.#entriesOf(base)))
    for (const entry of parseTree(id, data)) {
      const same = bases.flatMap((base) => base.get(nameOf(entry)) ?? [])
      if (same.some(({ id, mode }) => id === entry.id && mode === entry.mode)) continue
      if (!(await this.#isEntryWhole(entry, same))) return false
    }
    this.#wholeTrees.add(id)
    return true
  }

  async #isEntryWhole(entry: RawEntry, before: readonly RawEntry[]): Promise<boolean> {
    const type = typeOfMode(entry.mode)
    // What a submodule points at is in another repository.
    if (type === 'commit') return true
    const alike = before.filter(({ mode }) => typeOfMode(mode) === type).map(({ id }) => id)
    if (alike.includes(entry.id)) return true
    return type === 'tree'
      ? await this.#isTreeWhole(entry.id, alike)
      : this.#typeOf(entry.id) === 'blob'
  }

  /** The entries of a tree by name; none, which says nothing of it, where that would be too much. */
  async #entriesOf(id: ObjectId): Promise<ReadonlyMap<string, RawEntry>> {
    const data = this.#read(id, 'tree') ?? (await readTreeData(this.#repository, id))
    this.#leftBefore -= data.length
    if (this.#leftBefore < 0) return new Map()
    return new Map(parseTree(id, data).map((entry) => [nameOf(entry), entry]))
  }

  #typeOf(id: ObjectId): ObjectType | undefined {
    const path = this.#fresh.get(id)
    return path === undefined ? undefined : readLooseHeader(path).type
  }

  /** A new object of this type, as long as not too much was read. */
  #read(id: ObjectId, type: 'commit' | 'tag' | 'tree'): Buffer | undefined {
    const path = this.#fresh.get(id)
    if (path === undefined || this.#typeOf(id) !== type) return undefined
    const data = readLoose(path, this.#left)?.data
    this.#left -= data?.length ?? 0
    return data
  }
}

/** The bytes of an entry's name as text. */
function nameOf({ name }: RawEntry): string {
  return name.toString('latin1')
}
