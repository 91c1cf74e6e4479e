import type { OpenRepository } from '../engine/open-repository.ts'
import { parseTree } from '../objects/parse-object.ts'
import { readTreeData } from '../objects/tree-walk.ts'
import { emptyTrees, type ObjectId } from '../types.ts'
import { type StoredEntry, storeBlob, storeTree } from './store-object.ts'

/** What stands in a folder under a name, unless it is a folder: stored already, or the content of a new file. */
export type Entry = StoredEntry | { readonly mode: number; readonly content: Buffer }

export const treeMode = 0o040000
const usualModes: ReadonlySet<number> = new Set([
  ...[treeMode, 0o100644, 0o100755, 0o120000, 0o160000],
])

/** A folder that is being changed. Names are bytes, kept as text of one character each. */
export class Folder {
  changed: boolean
  /** Whether its entries have the modes that git writes today; old ones had others, which git merges away. */
  readonly hasUsualModes: boolean
  readonly #id: ObjectId | undefined
  readonly #stored: ReadonlyMap<string, StoredEntry>
  /** What is new or was opened; undefined for what is gone. */
  readonly #fresh = new Map<string, Entry | Folder | undefined>()

  /** Without an id it is a new one. */
  constructor(id?: ObjectId, data: Buffer = Buffer.alloc(0)) {
    this.#id = id
    this.changed = id === undefined
    const entries = id === undefined ? [] : parseTree(id, data)
    this.hasUsualModes = entries.every(({ mode }) => usualModes.has(mode))
    this.#stored = new Map(entries.map((entry) => [entry.name.toString('latin1'), entry]))
  }

  static async load(repository: OpenRepository, id: ObjectId): Promise<Folder> {
    return new Folder(id, await readTreeData(repository, id))
  }

  get(name: string): Entry | Folder | undefined {
    return this.#fresh.has(name) ? this.#fresh.get(name) : this.#stored.get(name)
  }

  set(name: string, entry: Entry | Folder | undefined): void {
    this.#fresh.set(name, entry)
  }

  isEmpty(): boolean {
    const isThere = (name: string) => this.get(name) !== undefined
    return ![...this.#stored.keys(), ...this.#fresh.keys()].some(isThere)
  }

  /** What has changed here and below, by path; undefined for what is gone. */
  *changes(above = ''): Generator<readonly [string, Entry | undefined]> {
    for (const [name, entry] of this.#fresh) {
      const path = `${above}${Buffer.from(name, 'latin1').toString('utf8')}`
      if (!(entry instanceof Folder)) {
        if (entry || this.#stored.has(name)) yield [path, entry]
        continue
      }
      // One that was made anew has nothing of what stood there before.
      if (entry.#id === undefined && this.#stored.has(name)) yield [path, undefined]
      if (entry.changed) yield* entry.changes(`${path}/`)
    }
  }

  /** Stores what has changed and gives the folder's id. */
  async store(repository: OpenRepository): Promise<ObjectId> {
    if (!this.changed && this.#id !== undefined && !emptyTrees.has(this.#id)) return this.#id
    const isChange = ([name, entry]: readonly [string, unknown]) =>
      entry !== undefined || this.#stored.has(name)
    const changes = await Promise.all(
      [...this.#fresh].filter(isChange).map(async ([name, entry]) => {
        const plain = Buffer.from(name, 'latin1').toString('utf8')
        return [plain, entry && (await stored(repository, entry))] as const
      }),
    )
    return storeTree(repository, this.#id, new Map(changes))
  }
}

async function stored(repository: OpenRepository, entry: Entry | Folder): Promise<StoredEntry> {
  if (entry instanceof Folder) return { mode: treeMode, id: await entry.store(repository) }
  if ('id' in entry) return entry
  return { mode: entry.mode, id: await storeBlob(repository, entry.content) }
}
