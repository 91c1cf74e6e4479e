import { LRUCache } from 'lru-cache'
import { byteCache } from '../../base/byte-cache.ts'
import { mebibyte } from '../engine/budget.ts'
import { engineCall } from '../engine/engine-call.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { operation } from '../engine/operation.ts'
import { resolveCommit } from '../objects/resolve.ts'
import { refsOf } from '../ref-files/ref-table.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId, Ref } from '../types.ts'
import type { History } from './graph/history.ts'
import { historyWith } from './graph/load.ts'
import { containing } from './graph/paint.ts'
import { peelAll } from './peel.ts'

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
  async run({ repository }, { into, ids }: AmongOptions): Promise<ObjectId[]> {
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
  }
  for (const id of ids) if (mergedBefore.get(keyOf(id))) found.add(id)
  return found
}
