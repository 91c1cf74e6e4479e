import { LRUCache } from 'lru-cache'
import { byteCache } from '../../base/byte-cache.ts'
import { mebibyte } from '../engine/budget.ts'
import { engineCall } from '../engine/engine-call.ts'
import { NeedsEngine } from '../engine/needs-engine.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { operation } from '../engine/operation.ts'
import { resolveCommit } from '../objects/resolve.ts'
import { peelAll } from '../refs/peel.ts'
import { refsOf } from '../refs/ref-table.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId, Ref } from '../types.ts'
import { graphIdsOf } from './graph/graph-ids.ts'
import type { History } from './graph/history.ts'
import { historyWith, loadedStamp } from './graph/load.ts'
import { containing } from './graph/paint.ts'

export interface ContainsOptions {
  readonly revision: string
  /** Full prefixes of the refs to look at: `refs/heads/`, `refs/tags/`. */
  readonly prefixes: readonly string[]
}

/**
 * The branches and tags that contain a commit, in the order of the prefixes and by name
 * (docs/contract/B-resolved §2.3 `refs`).
 */
export const listRefsContaining = engineCall({
  name: 'listRefsContaining',
  lane: 'light',
  async run({ repository }, options: ContainsOptions): Promise<Ref[]> {
    const { commitId } = await resolveCommit(repository, options.revision)
    const refs = options.prefixes.flatMap((prefix) => refsOf(repository).list(prefix))
    return containingRefs(repository, commitId, refs)
  },
})

/** Those of the refs whose history contains a commit. */
async function containingRefs(
  repository: OpenRepository,
  commitId: string,
  refs: readonly Ref[],
): Promise<Ref[]> {
  const commits = await peelAll(
    repository,
    refs.map((ref) => ref.id),
  )
  const tips = [...new Set(commits.filter((id) => id !== undefined))]
  const history = await historyWith(repository, [commitId, ...tips])
  const positions = tips.map((id) => history.at(id))
  const found = new Set(containing(history, history.at(commitId), positions))
  return refs.filter((_, i) => {
    const id = commits[i]
    return id !== undefined && found.has(history.at(id))
  })
}

function reachable(history: History, from: number): Uint8Array {
  const marks = new Uint8Array(history.size)
  const stack = [from]
  marks[from] = 1
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    for (let n = 0, p = history.parent(at, 0); p >= 0; p = history.parent(at, n)) {
      if (!marks[p]) {
        marks[p] = 1
        stack.push(p)
      }
      n += 1
    }
  }
  return marks
}

export interface AmongOptions {
  /** The commit that the others may be part of. */
  readonly into: ObjectId
  readonly ids: readonly ObjectId[]
}

const listMergedAmongOperation = operation({
  name: 'listMergedAmong',
  lane: 'light',
  inProcess: () => true,
  async run({ repository }, { into, ids }: AmongOptions): Promise<ObjectId[]> {
    if (repository.where === 'in process') return mergedInProcess(repository, into, ids)
    const history = await historyWith(repository, [into, ...ids])
    const marks = reachedFrom(history, into)
    return ids.filter((id) => marks[history.at(id)] === 1)
  },
})

/** Tips whose reach is kept: default branches, mostly the one. */
const reachesKept = 4
const reached = new WeakMap<History, LRUCache<ObjectId, Uint8Array>>()

/** Marks of what a commit contains; one commit, the default branch, is asked about again and again. */
function reachedFrom(history: History, id: ObjectId): Uint8Array {
  const known = reached.get(history) ?? new LRUCache<ObjectId, Uint8Array>({ max: reachesKept })
  reached.set(history, known)
  // Commits that were added later are no ancestors of one that was there before.
  const marks = known.get(id) ?? reachable(history, history.at(id))
  known.set(id, marks)
  return marks
}

/** Which commits of the graph files one contains, a bit for each position. */
interface Reach {
  readonly stamp: string
  readonly bits: Uint8Array
  /** Commits of the graph. */
  readonly size: number
}

const readReachOperation = operation({
  name: 'readReach',
  lane: 'light',
  async run({ repository }, { into }: { readonly into: ObjectId }): Promise<Reach | undefined> {
    const history = await historyWith(repository, [into])
    const marks = reachedFrom(history, into)
    const bits = new Uint8Array(Math.ceil(history.inGraph / 8))
    for (let at = 0; at < history.inGraph; at += 1) {
      if (marks[at] === 1) bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7))
    }
    const stamp = loadedStamp(repository, history)
    return stamp === undefined ? undefined : { stamp, bits, size: history.inGraph }
  },
})

/** What default branches contain, for the main process: ten kilobytes for a history of eighty thousand. */
const reaches = byteCache<Reach>(mebibyte, ({ bits }) => bits.length + 200)
const reachesAsked = new Set<string>()

/** Looks commits up in what an engine process found out before; commits newer than the graph are its again. */
function mergedInProcess(
  repository: OpenRepository,
  into: ObjectId,
  ids: readonly ObjectId[],
): ObjectId[] {
  const key = `${repository.path} ${into}`
  const reach = reaches.get(key)
  if (!reach) throw new NeedsEngine('a reach')
  const graph = graphIdsOf(repository)
  if (graph.stamp !== reach.stamp) {
    reaches.delete(key)
    throw new NeedsEngine('another graph')
  }
  return ids.filter((id) => {
    const at = graph.find(id)
    if (at < 0 || at >= reach.size) throw new NeedsEngine('a commit that is not in the graph')
    return ((reach.bits[at >> 3] ?? 0) & (1 << (at & 7))) !== 0
  })
}

/** Fetches what a commit contains, beside the request that has just asked an engine process for it. */
function prepareReach(repo: Repo, into: ObjectId): void {
  const key = `${repo.path} ${into}`
  if (repo.engine.load().processes === 0 || reachesAsked.has(key) || reaches.get(key)) return
  reachesAsked.add(key)
  repo.engine
    .run(readReachOperation, repo.path, { into })
    .then((reach) => reach && reaches.set(key, reach))
    // Whoever needs it asks an engine process again.
    .catch(() => {})
    .finally(() => reachesAsked.delete(key))
}

/** Two commits to whether one contains the other, which never changes. */
const mergedBefore = byteCache<boolean>(2 * mebibyte, () => 8)

/** Those of the commits that are contained in another one, or are the same. */
export async function listMergedAmong(
  repo: Repo,
  { into, ids }: AmongOptions,
  signal?: AbortSignal,
): Promise<ReadonlySet<ObjectId>> {
  const keyOf = (id: ObjectId) => `${repo.path} ${into} ${id}`
  const missing = [...new Set(ids)].filter((id) => mergedBefore.get(keyOf(id)) === undefined)
  const found = new Set<ObjectId>()
  if (missing.length > 0) {
    const input = { into, ids: missing }
    const merged = await repo.engine.run(listMergedAmongOperation, repo.path, input, signal)
    for (const id of merged) found.add(id)
    for (const id of missing) mergedBefore.set(keyOf(id), found.has(id))
    prepareReach(repo, into)
  }
  for (const id of ids) if (mergedBefore.get(keyOf(id))) found.add(id)
  return found
}
