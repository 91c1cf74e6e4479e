import { byteCache } from '../../../base/byte-cache.ts'
import { Timeslice } from '../../../base/timeslice.ts'
import type { OpenRepository } from '../../engine/open-repository.ts'
import { GitError } from '../../error.ts'
import { parseTree } from '../../objects/parse-object.ts'
import { differingNames, lookUp, readTreeData } from '../../objects/tree-walk.ts'
import type { ObjectId } from '../../types.ts'
import { type BloomKeys, bloomKeys } from './bloom.ts'
import type { History } from './history.ts'
import { PathReader } from './path-reader.ts'
import { CommitQueue } from './queue.ts'

/** Up to so many names are looked up one by one; for more the two folders are compared. */
const fewNames = 12

interface Name {
  readonly text: string
  readonly bytes: Buffer
  /** The name's own filter key; undefined means that no filter can tell. */
  readonly key: BloomKeys | undefined
}

const foundBefore = byteCache<ReadonlyMap<string, ObjectId>>(
  8 * 1024 * 1024,
  (names) => names.size * 120,
)

/**
 * For every entry of a folder the commit that `git log -1 -- entry` gives. All entries walk together:
 * at each commit those that equal a parent go on there, the others have found theirs. Names are in
 * latin1, one character for each byte.
 */
export async function lastChanges(
  repository: OpenRepository,
  history: History,
  tip: number,
  folder: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ObjectId>> {
  const key = (position: number) => `${repository.path} ${history.idOf(position)} ${folder}`
  const known = foundBefore.get(key(tip))
  if (known) return known
  const walk = new ChangesWalk(repository, history, folder)
  const names = await walk.namesAt(tip)
  const found = await walk.run(tip, names, (position) => foundBefore.get(key(position)), signal)
  foundBefore.set(key(tip), found)
  return found
}

class ChangesWalk {
  readonly #repository: OpenRepository
  readonly #history: History
  readonly #folder: string
  readonly #folderKeys: BloomKeys | undefined
  readonly #reader: PathReader | undefined
  readonly #queue = new CommitQueue()
  readonly #here = new Map<number, Name[]>()
  readonly #found = new Map<string, ObjectId>()

  constructor(repository: OpenRepository, history: History, folder: string) {
    this.#repository = repository
    this.#history = history
    this.#folder = folder
    this.#folderKeys = bloomKeys(folder)
    this.#reader = folder === '' ? undefined : new PathReader(repository, history, folder)
  }

  async namesAt(position: number): Promise<Name[]> {
    const treeId = await this.#treeAt(position)
    if (treeId === undefined) return []
    const prefix = this.#folder === '' ? '' : `${this.#folder}/`
    return parseTree(treeId, await readTreeData(this.#repository, treeId)).map((entry) => ({
      text: entry.name.toString('latin1'),
      bytes: entry.name,
      key: bloomKeys(prefix + entry.name.toString('latin1'))?.slice(0, 1),
    }))
  }

  async run(
    tip: number,
    names: readonly Name[],
    known: (position: number) => ReadonlyMap<string, ObjectId> | undefined,
    signal: AbortSignal,
  ): Promise<Map<string, ObjectId>> {
    this.#send(tip, names)
    const slice = new Timeslice(3)
    for (let at = this.#queue.pop(); at >= 0; at = this.#queue.pop()) {
      if (signal.aborted) throw new GitError('timeout', 'the caller went away')
      if (slice.isOver()) await slice.yield()
      const here = this.#here.get(at) ?? []
      this.#here.delete(at)
      const before = known(at)
      if (before) {
        for (const name of here) this.#assign(name, before.get(name.text) ?? this.#history.idOf(at))
      } else await this.#visit(at, here)
    }
    return this.#found
  }

  #send(position: number, names: readonly Name[]): void {
    if (names.length === 0) return
    const waiting = this.#here.get(position)
    if (waiting) {
      waiting.push(...names)
      return
    }
    this.#here.set(position, [...names])
    this.#queue.push(position, this.#history.levelOf(position))
  }

  async #visit(position: number, names: readonly Name[]): Promise<void> {
    let left = this.#afterFilter(position, names)
    if (left.length === 0) return
    const mine = await this.#treeAt(position)
    for (let n = 0; left.length > 0; n += 1) {
      const parent = this.#history.parent(position, n)
      if (parent < 0) break
      const changed = await this.#changedNames(left, mine, await this.#treeAt(parent))
      this.#send(
        parent,
        left.filter((name) => !changed.has(name)),
      )
      left = left.filter((name) => changed.has(name))
    }
    for (const name of left) this.#assign(name, this.#history.idOf(position))
  }

  #assign(name: Name, id: ObjectId): void {
    this.#found.set(name.text, id)
  }

  /** Hands to the first parent what the filters say is unchanged; gives the names that may differ. */
  #afterFilter(position: number, names: readonly Name[]): readonly Name[] {
    const parent = this.#history.parent(position, 0)
    if (parent < 0) return names
    if (!this.#history.mayHaveChanged(position, this.#folderKeys)) {
      this.#send(parent, names)
      return []
    }
    const suspect = names.filter((name) => this.#history.mayHaveChanged(position, name.key))
    if (suspect.length < names.length) {
      this.#send(
        parent,
        names.filter((name) => !suspect.includes(name)),
      )
    }
    return suspect
  }

  async #changedNames(
    names: readonly Name[],
    mine: ObjectId | undefined,
    theirs: ObjectId | undefined,
  ): Promise<Set<Name>> {
    if (mine === theirs) return new Set()
    if (mine === undefined || theirs === undefined) return new Set(names)
    const [ours, other] = await Promise.all([
      readTreeData(this.#repository, mine),
      readTreeData(this.#repository, theirs),
    ])
    if (names.length > fewNames) {
      const differing = differingNames(mine, ours, other)
      return new Set(names.filter((name) => differing.has(name.text)))
    }
    return new Set(
      names.filter((name) => stateOf(mine, ours, name) !== stateOf(theirs, other, name)),
    )
  }

  /** The folder's tree in a commit; undefined where it does not exist. */
  async #treeAt(position: number): Promise<ObjectId | undefined> {
    if (!this.#reader) return this.#history.treeOf(position)
    const state = await this.#reader.state(position)
    const [mode, id] = state.split(' ')
    return Number(mode) === 0o040000 ? id : undefined
  }
}

function stateOf(treeId: ObjectId, data: Buffer, name: Name): string {
  const entry = lookUp(treeId, data, name.bytes)
  return entry ? `${entry.mode} ${entry.id}` : ''
}
