import { GitError } from '../../error.ts'
import type { ObjectId } from '../../types.ts'
import { type BloomKeys, mayHaveChanged } from './bloom.ts'
import { findInLayer, type GraphLayer } from './graph-file.ts'
import { grown } from './queue.ts'

/** A commit as the walks need it. */
export interface HistoryCommit {
  readonly id: ObjectId
  readonly treeId: ObjectId
  readonly parentIds: readonly ObjectId[]
  readonly seconds: number
}

const noParent = 0x70000000
const lastEdge = 0x80000000
const largeOffset = 0x80000000

/**
 * Commits as numbers: those of the commit graph first, then those added from their objects. A commit is
 * only added after its parents, so every ancestor of a known commit is known and walks need no waiting.
 */
export class History {
  /** Commits known. Positions are below it. */
  size = 0
  /** How many came from graph files. */
  readonly inGraph: number
  #dates = new Float64Array(0)
  #levels = new Float64Array(0)
  #firstParents = new Int32Array(0)
  /** The second parent; −1 for none, −2−n for entry n of `#more`. */
  #secondParents = new Int32Array(0)
  /** The parents after the first, for commits with more than two. */
  readonly #more: Int32Array[] = []
  readonly #layers: readonly GraphLayer[]
  readonly #added = new Map<ObjectId, number>()
  readonly #addedIds: { readonly id: ObjectId; readonly treeId: ObjectId }[] = []

  /** Throws when the layers contradict themselves. */
  constructor(layers: readonly GraphLayer[]) {
    this.#layers = layers
    this.inGraph = layers.reduce((sum, layer) => sum + layer.count, 0)
    this.#reserve(this.inGraph)
    this.size = this.inGraph
    for (const layer of layers) this.#readLayer(layer)
    this.#assertSound()
  }

  /** The position of a commit; −1 when it is not known. */
  find(id: ObjectId): number {
    const added = this.#added.get(id)
    if (added !== undefined) return added
    if (this.inGraph === 0) return -1
    const bytes = Buffer.from(id, 'hex')
    for (const layer of this.#layers) {
      const at = findInLayer(layer, bytes)
      if (at >= 0) return layer.start + at
    }
    return -1
  }

  /** The position of a commit that was included before. */
  at(id: ObjectId): number {
    const position = this.find(id)
    if (position < 0) throw new GitError('not_found', `no commit ${id}`)
    return position
  }

  idOf(position: number): ObjectId {
    const layer = this.#layerOf(position)
    if (!layer) return this.#addedIds[position - this.inGraph]?.id ?? ''
    const at = (position - layer.start) * layer.idBytes
    return layer.ids.toString('hex', at, at + layer.idBytes)
  }

  treeOf(position: number): ObjectId {
    const layer = this.#layerOf(position)
    if (!layer) return this.#addedIds[position - this.inGraph]?.treeId ?? ''
    const at = (position - layer.start) * (layer.idBytes + 16)
    return layer.commits.toString('hex', at, at + layer.idBytes)
  }

  /** The committer's date in seconds. */
  dateOf(position: number): number {
    return this.#dates[position] ?? 0
  }

  /** The corrected commit date: greater than that of every parent. */
  levelOf(position: number): number {
    return this.#levels[position] ?? 0
  }

  /** Parent number `n`, from 0; −1 when there are not so many. */
  parent(position: number, n: number): number {
    if (n === 0) return this.#firstParents[position] ?? -1
    const second = this.#secondParents[position] ?? -1
    if (second >= -1) return n === 1 ? second : -1
    return this.#more[-2 - second]?.[n - 1] ?? -1
  }

  /** Whether a commit may differ from its first parent at a path, by the filter of the graph. */
  mayHaveChanged(position: number, keys: BloomKeys | undefined): boolean {
    if (!keys) return true
    const layer = this.#layerOf(position)
    return !layer || mayHaveChanged(layer, position - layer.start, keys)
  }

  /** Adds a commit whose parents are all known. */
  add(commit: HistoryCommit): void {
    if (this.find(commit.id) >= 0) return
    const position = this.size
    this.#reserve(position + 1)
    this.size += 1
    const parents = commit.parentIds.map((id) => this.at(id))
    this.#dates[position] = commit.seconds
    this.#firstParents[position] = parents[0] ?? -1
    this.#setOthers(position, parents.slice(1))
    this.#levels[position] = Math.max(
      commit.seconds,
      ...parents.map((parent) => this.levelOf(parent) + 1),
    )
    this.#added.set(commit.id, position)
    this.#addedIds.push({ id: commit.id, treeId: commit.treeId })
  }

  #layerOf(position: number): GraphLayer | undefined {
    if (position >= this.inGraph) return undefined
    return this.#layers.find((layer) => position < layer.start + layer.count)
  }

  #setOthers(position: number, others: readonly number[]): void {
    if (others.length < 2) {
      this.#secondParents[position] = others[0] ?? -1
      return
    }
    this.#secondParents[position] = -2 - this.#more.length
    this.#more.push(Int32Array.from(others))
  }

  #readLayer(layer: GraphLayer): void {
    const { commits } = layer
    const view = new DataView(commits.buffer, commits.byteOffset, commits.length)
    for (let i = 0; i < layer.count; i += 1) {
      const at = i * (layer.idBytes + 16) + layer.idBytes
      const position = layer.start + i
      const first = view.getUint32(at)
      const second = view.getUint32(at + 4)
      this.#firstParents[position] = first === noParent ? -1 : first
      if (second < lastEdge) this.#secondParents[position] = second === noParent ? -1 : second
      else this.#setOthers(position, edgesFrom(layer.edges, second - lastEdge))
      // 34 bits of date below 30 bits of generation number.
      const date = (view.getUint32(at + 8) & 3) * 0x100000000 + view.getUint32(at + 12)
      this.#dates[position] = date
      this.#levels[position] = date + correctionOf(layer, i)
    }
  }

  /** Walks end because every parent is older by corrected date: a damaged graph must not break that. */
  #assertSound(): void {
    for (let at = 0; at < this.inGraph; at += 1) {
      for (let n = 0, p = this.parent(at, 0); p >= 0; p = this.parent(at, n)) {
        if (p >= this.inGraph || this.levelOf(p) >= this.levelOf(at)) {
          throw new Error('a commit graph with a parent that is no ancestor')
        }
        n += 1
      }
    }
  }

  #reserve(size: number): void {
    if (size <= this.#dates.length) return
    const capacity = Math.max(size, Math.ceil(this.#dates.length * 1.5), 64)
    this.#dates = grown(new Float64Array(capacity), this.#dates)
    this.#levels = grown(new Float64Array(capacity), this.#levels)
    this.#firstParents = grown(new Int32Array(capacity), this.#firstParents)
    this.#secondParents = grown(new Int32Array(capacity), this.#secondParents)
  }
}

function edgesFrom(edges: Buffer, index: number): number[] {
  const parents: number[] = []
  for (let at = index * 4; at < edges.length; at += 4) {
    const edge = edges.readUInt32BE(at)
    parents.push(edge % lastEdge)
    if (edge >= lastEdge) break
  }
  return parents
}

function correctionOf(layer: GraphLayer, index: number): number {
  const offset = layer.correction.readUInt32BE(index * 4)
  if (offset < largeOffset) return offset
  return Number(layer.largeCorrection?.readBigUInt64BE((offset - largeOffset) * 8) ?? 0n)
}
