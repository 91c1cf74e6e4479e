import { gitRecords } from './command.ts'
import { loadCommits } from './commit.ts'
import type { OpenRepository } from './engine/open-repository.ts'
import { operation } from './engine/operation.ts'
import type { Repo } from './repo.ts'
import { type CommitStats, emptyTree, emptyTree256, type ObjectId } from './types.ts'

export const readCommitStatsOperation = operation({
  name: 'readCommitStats',
  lane: 'heavy',
  async run(
    { repository, signal },
    input: { readonly ids: readonly ObjectId[] },
  ): Promise<CommitStats[]> {
    const pairs = await treePairs(repository, input.ids)
    const distinct = new Map(pairs.map((pair) => [pair.join(' '), pair]))
    const different = [...distinct.values()].filter(([before, after]) => before !== after)
    const stats = new Map<string, CommitStats>()
    // Two processes use two cores; for a few commits a second one costs more than it gives.
    const half = different.length > worthTwo ? different.length >> 1 : different.length
    const parts = [different.slice(0, half), different.slice(half)].filter(
      (part) => part.length > 0,
    )
    await Promise.all(parts.map((part) => fill(repository, part, stats, signal)))
    return pairs.map(
      ([before, after]) =>
        stats.get(`${before} ${after}`) ?? { additions: 0, deletions: 0, files: 0 },
    )
  },
})

const worthTwo = 24

/** Each commit's tree with that of its first parent before it. */
async function treePairs(
  repository: OpenRepository,
  ids: readonly ObjectId[],
): Promise<(readonly [ObjectId, ObjectId])[]> {
  const commits = await loadCommits(repository, ids)
  return Promise.all(
    commits.map(async (commit) => {
      const [parentId] = commit.parentIds
      const nothing = commit.id.length === 40 ? emptyTree : emptyTree256
      if (parentId === undefined) return [nothing, commit.treeId] as const
      const [parent] = await loadCommits(repository, [parentId])
      return [parent?.treeId ?? nothing, commit.treeId] as const
    }),
  )
}

/** One git process counts the lines of all pairs. */
async function fill(
  repository: OpenRepository,
  pairs: readonly (readonly [ObjectId, ObjectId])[],
  into: Map<string, CommitStats>,
  signal: AbortSignal,
): Promise<void> {
  const lines = gitRecords(
    {
      repo: repository.path,
      args: ['diff-tree', '--stdin', '-r', '-M', '--numstat'],
      stdin: `${pairs.map((pair) => pair.join(' ')).join('\n')}\n`,
      signal,
    },
    0x0a,
  )
  let pair = ''
  for await (const line of lines) {
    const text = line.toString('latin1')
    // A file's line has tabs; any other names the pair that follows.
    const [added, deleted, path] = text.split('\t', 3)
    if (path === undefined) {
      pair = text.trim()
      continue
    }
    const before = into.get(pair) ?? { additions: 0, deletions: 0, files: 0 }
    into.set(pair, {
      // Binary files count as `-`.
      additions: before.additions + (Number(added) || 0),
      deletions: before.deletions + (Number(deleted) || 0),
      files: before.files + 1,
    })
  }
}

/** A commit's numbers never change: some thousands are kept where requests are answered. */
const known = new Map<string, CommitStats>()
const kept = 20_000

/**
 * Lines added and deleted by each commit against its first parent, renames found (spec B-resolved §2).
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
  if (known.size + fresh.size > kept) known.clear()
  for (const [id, stats] of fresh) known.set(key(id), stats)
  return found
}

/** Keeps numbers that were counted while the commit was written. */
export function rememberCommitStats(repo: Repo, id: ObjectId, stats: CommitStats): void {
  if (known.size >= kept) known.clear()
  known.set(`${repo.path} ${id}`, stats)
}

const nothing: CommitStats = { additions: 0, deletions: 0, files: 0 }
