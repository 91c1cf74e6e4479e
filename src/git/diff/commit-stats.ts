import { byteCache } from '../../base/byte-cache.ts'
import { mebibyte } from '../engine/budget.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { operation } from '../engine/operation.ts'
import { countByGit, nothing } from '../history/numstat.ts'
import { assertObjectId } from '../names.ts'
import { loadCommit } from '../objects/commit.ts'
import type { Repo } from '../repo.ts'
import { type CommitStats, emptyTreeIn, formatOfId, type ObjectId } from '../types.ts'
import { nativeDiff } from './native-diff.ts'

const readCommitStatsOperation = operation({
  name: 'readCommitStats',
  lane: 'heavy',
  async run(
    { repository, signal },
    input: { readonly ids: readonly ObjectId[] },
  ): Promise<CommitStats[]> {
    const ids = input.ids.map(assertObjectId)
    const stats = new Map<ObjectId, CommitStats>()
    if (ids.length <= mostNative) {
      for (const id of ids) {
        const counted = await countCommit(repository, id)
        if (counted) stats.set(id, counted)
      }
    }
    const left = ids.filter((id) => !stats.has(id))
    // Two processes use two cores; for a few commits a second one costs more than it gives.
    const count = left.length > worthTwo ? 2 : 1
    // By turns: neighbours tend to be as large as one another.
    const parts = Array.from({ length: count }, (_, part) =>
      left.filter((_id, i) => i % count === part),
    )
    await Promise.all(parts.map((part) => countByGit(repository, part, stats, signal)))
    return ids.map((id) => stats.get(id) ?? nothing)
  },
})

const worthTwo = 24
/** From here on one git process for all is as fast as libgit2. */
const mostNative = 8

async function countCommit(
  repository: OpenRepository,
  id: ObjectId,
): Promise<CommitStats | undefined> {
  const { parentIds } = await loadCommit(repository, id)
  return await countChange(repository, parentIds[0] ?? emptyTreeIn(formatOfId(id)), id)
}

/** Lines that differ between two commits or trees; undefined where git must be asked. */
export async function countChange(
  repository: OpenRepository,
  from: ObjectId,
  to: ObjectId,
): Promise<CommitStats | undefined> {
  const files = await nativeDiff(repository, from, to, Number.MAX_SAFE_INTEGER)
  return files?.reduce(
    (sum, { patch }) => ({
      additions: sum.additions + patch.additions,
      deletions: sum.deletions + patch.deletions,
      files: sum.files + 1,
    }),
    nothing,
  )
}
/** A commit's numbers never change: some thousands are kept where requests are answered. */
const known = byteCache<CommitStats>(4 * mebibyte, () => 60)

/**
 * Lines added and deleted by each commit against its first parent, renames found (docs/contract/B-resolved §2).
 * The ids must be of commits that the repository has.
 */
export async function readCommitStats(
  repo: Repo,
  ids: readonly ObjectId[],
  signal?: AbortSignal,
): Promise<CommitStats[]> {
  const key = (id: ObjectId) => `${repo.path} ${id}`
  const missing = [...new Set(ids)].filter((id) => !known.has(key(id)))
  const fresh = new Map<ObjectId, CommitStats>()
  if (missing.length > 0) {
    const input = { ids: missing }
    const read = await repo.engine.run(readCommitStatsOperation, repo.path, input, signal)
    missing.forEach((id, i) => {
      const stats = read[i]
      if (stats) fresh.set(id, stats)
    })
  }
  const found = ids.map((id) => fresh.get(id) ?? known.get(key(id)) ?? nothing)
  for (const [id, stats] of fresh) known.set(key(id), stats)
  return found
}

/** Keeps numbers that were counted while the commit was written. */
export function rememberCommitStats(repo: Repo, id: ObjectId, stats: CommitStats): void {
  known.set(`${repo.path} ${id}`, stats)
}
