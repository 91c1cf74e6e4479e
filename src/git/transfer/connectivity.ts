import { statSync } from 'node:fs'
import type { OpenRepository } from '../engine/open-repository.ts'
import { operation } from '../engine/operation.ts'
import { readLoose, readLooseHeader } from '../objects/packs/loose-file.ts'
import {
  parseCommit,
  parseTag,
  parseTree,
  type RawEntry,
  typeOfMode,
} from '../objects/parse-object.ts'
import { differingNames, lookUp, readTreeData, rootTree } from '../objects/tree-walk.ts'
import type { Repo } from '../repo.ts'
import { emptyTrees, type ObjectId, type ObjectType } from '../types.ts'
import { listObjectFiles } from './quarantine.ts'

export interface ConnectivityInput {
  /** The folder of the new objects, each in a file of its own. */
  readonly quarantine: string
  readonly tip: ObjectId
  /** Commits that refs hold: whatever they lead to is there. */
  readonly whole: readonly ObjectId[]
}

export const isConnectedOperation = operation({
  name: 'isConnected',
  lane: 'light',
  inProcess: () => true,
  async run({ repository }, input: ConnectivityInput): Promise<boolean> {
    const { loose, others } = await listObjectFiles(input.quarantine)
    if (others.length > 0) return false
    return await new Connectivity(repository, loose, input.whole).holds(input.tip)
  },
})

/**
 * Whether all that a new tip leads to is there: its commits go back to ones that refs hold, and what their trees name
 * is new or stands at the same place in a parent. That is enough for most small pushes without a program. False says
 * nothing: a file that came from another place, or an older parent, takes a walk to tell, as `git rev-list` does it.
 */
export function isConnected(repo: Repo, input: ConnectivityInput): Promise<boolean> {
  return repo.engine.run(isConnectedOperation, repo.path, input)
}

/** Bytes of commits, tags and trees that are looked at: a small push has few, unless it is made to do harm. */
const readLimit = 1024 * 1024

/** Entries of one folder that are looked up one by one, each along the whole folder. */
const mostChanged = 100

class Connectivity {
  readonly #repository: OpenRepository
  /** The new objects: their files by id. */
  readonly #fresh: ReadonlyMap<ObjectId, string>
  readonly #whole: ReadonlySet<ObjectId>
  readonly #wholeTrees = new Set<ObjectId>()
  #left = readLimit

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
    const bases = await Promise.all(parentIds.map((parent) => this.#treeOf(parent)))
    return (await this.#isTreeWhole(treeId, bases)) ? parentIds : undefined
  }

  async #treeOf(commitId: ObjectId): Promise<ObjectId> {
    const data = this.#read(commitId, 'commit')
    return data ? parseCommit(commitId, data).treeId : await rootTree(this.#repository, commitId)
  }

  /** Whether a tree holds only what is new and whole, or what one of the trees before it holds under the same name. */
  async #isTreeWhole(id: ObjectId, before: readonly ObjectId[]): Promise<boolean> {
    if (before.includes(id) || emptyTrees.has(id) || this.#wholeTrees.has(id)) return true
    const data = this.#read(id, 'tree')
    if (!data) return false
    const bases = await Promise.all(
      before.map(async (base) => ({ id: base, data: await this.#treeData(base) })),
    )
    const changed = changedEntries(id, data, bases)
    if (changed.length > mostChanged) return false
    for (const entry of changed) {
      const same = bases.flatMap((base) => lookUp(base.id, base.data, entry.name) ?? [])
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

  async #treeData(id: ObjectId): Promise<Buffer> {
    return this.#read(id, 'tree') ?? (await readTreeData(this.#repository, id))
  }

  #typeOf(id: ObjectId): ObjectType | undefined {
    const path = this.#fresh.get(id)
    return path === undefined ? undefined : readLooseHeader(path).type
  }

  /** A new object of this type, as long as not too much was read. */
  #read(id: ObjectId, type: 'commit' | 'tag' | 'tree'): Buffer | undefined {
    const path = this.#fresh.get(id)
    if (path === undefined || this.#typeOf(id) !== type) return undefined
    const data = readLoose(path, statSync(path).size, this.#left)?.data
    this.#left -= data?.length ?? 0
    return data
  }
}

/** The entries of a tree that stand in none of the others as they are, found in one pass along each. */
function changedEntries(
  id: ObjectId,
  data: Buffer,
  before: readonly { readonly data: Buffer }[],
): RawEntry[] {
  const differing = before.map((base) => differingNames(id, data, base.data))
  return parseTree(id, data).filter(({ name }) =>
    differing.every((names) => names.has(name.toString('latin1'))),
  )
}
