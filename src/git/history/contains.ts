import { byteCache } from '../../base/byte-cache.ts'
import { mebibyte } from '../engine/budget.ts'
import { engineCall } from '../engine/engine-call.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { operation } from '../engine/operation.ts'
import { resolveCommit } from '../objects/resolve.ts'
import { peelAll } from '../refs/peel.ts'
import { refsOf } from '../refs/ref-table.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId, Ref } from '../types.ts'
import type { History } from './graph/history.ts'
import { historyWith } from './graph/load.ts'
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

const reached = new WeakMap<History, { readonly from: ObjectId; readonly marks: Uint8Array }>()

/** Marks of what a commit contains, kept of the last one: the default branch is asked about again and again. */
function reachedFrom(history: History, from: ObjectId): Uint8Array {
  // Commits that were added later are no ancestors of one that was there before.
  const known = reached.get(history)
  if (known?.from === from) return known.marks
  const marks = new Uint8Array(history.size)
  const stack = [history.at(from)]
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    if (marks[at]) continue
    marks[at] = 1
    for (const parent of history.parents(at)) if (!marks[parent]) stack.push(parent)
  }
  reached.set(history, { from, marks })
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
