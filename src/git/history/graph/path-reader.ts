import { LRUCache } from 'lru-cache'
import type { OpenRepository } from '../../engine/open-repository.ts'
import { readLinked } from '../../objects/objects.ts'
import { typeOfMode } from '../../objects/parse-object.ts'
import { lookUp, readTreeData } from '../../objects/tree-walk.ts'
import { emptyTrees, type ObjectId } from '../../types.ts'
import type { History } from './history.ts'

/** What a path holds in a commit: mode and id as text, empty where it does not exist. */
export type PathState = string

/** States and folders that one reader remembers: walks are kept for the next page, some at a time. */
const remembered = 4000

/** Reads what one path held in many commits, each tree once and several at the same time. */
export class PathReader {
  readonly #repository: OpenRepository
  readonly #history: History
  readonly #parts: readonly Buffer[]
  readonly #states = new LRUCache<number, Promise<PathState>>({ max: remembered })
  readonly #below = new LRUCache<string, Promise<PathState>>({ max: remembered })

  constructor(repository: OpenRepository, history: History, path: string) {
    this.#repository = repository
    this.#history = history
    this.#parts = path.split('/').map((part) => Buffer.from(part))
  }

  /** The state in a commit. Starts the read at once, so several calls read in parallel. */
  state(position: number): Promise<PathState> {
    const known = this.#states.get(position)
    if (known) return known
    const state = this.#descend(this.#history.treeOf(position), 0)
    // A failure is met by whoever awaits; a read made ahead of need must not end the process.
    state.catch(() => {})
    this.#states.set(position, state)
    return state
  }

  /** Gives back what was remembered. */
  forget(): void {
    this.#states.clear()
    this.#below.clear()
  }

  async #descend(treeId: ObjectId, depth: number): Promise<PathState> {
    const name = this.#parts[depth]
    if (name === undefined || emptyTrees.has(treeId)) return ''
    // Root trees differ from commit to commit and would only wash out the cache.
    const data =
      depth === 0
        ? await readLinked(this.#repository, treeId, 'tree')
        : await readTreeData(this.#repository, treeId)
    const entry = lookUp(treeId, data, name)
    if (!entry) return ''
    if (depth === this.#parts.length - 1) return `${entry.mode} ${entry.id}`
    if (typeOfMode(entry.mode) !== 'tree') return ''
    return this.#from(entry.id, depth + 1)
  }

  /** Folders are shared by many commits: each is looked into once. */
  #from(treeId: ObjectId, depth: number): Promise<PathState> {
    const key = `${depth} ${treeId}`
    const known = this.#below.get(key)
    if (known) return known
    const state = this.#descend(treeId, depth)
    state.catch(() => {})
    this.#below.set(key, state)
    return state
  }
}
