import { byteCache } from '../../base/byte-cache.ts'
import { Timeslice } from '../../base/timeslice.ts'
import { mebibyte } from '../engine/budget.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { operation } from '../engine/operation.ts'
import { GitError } from '../error.ts'
import { entryAt } from '../objects/tree.ts'
import { readEntries } from '../objects/tree-walk.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'
import { FolderWalk, type KnownCommits } from './folder-walk.ts'
import { historyWith } from './graph/load.ts'

export interface FolderCommitsOptions {
  readonly ref: string
  /** The folder; empty for the root. */
  readonly path: string
  /** The entries that are asked for: their names. */
  readonly names: readonly string[]
}

/** The last commit of each entry of a folder, by the entry's name. */
export type FolderCommits = ReadonlyMap<string, ObjectId>

interface Asked extends FolderCommitsOptions {
  /** What was found for an older commit: the walk stops there. */
  readonly known: KnownCommits | undefined
}

interface Found {
  readonly commitId: ObjectId
  readonly last: readonly (readonly [string, ObjectId])[]
}

/** Smaller folders are walked for as a whole, so that their next page is there already. */
const whole = 2000

/** What was found, by commit and folder: both never change. */
const found = byteCache<FolderCommits>(4 * mebibyte, (last) => {
  let size = 0
  for (const name of last.keys()) size += 150 + name.length
  return size
})
/** For which commit a folder was walked last. */
const newest = byteCache<ObjectId>(mebibyte / 2, () => 40)

const folderCommitsOperation = operation({
  name: 'folderCommits',
  lane: 'heavy',
  inProcess: () => true,
  async run({ repository, signal }, { ref, path: given, names, known }: Asked): Promise<Found> {
    const { commitId, path, rootId, entry } = await entryAt(repository, { ref, path: given })
    if (path !== '' && entry?.type !== 'tree') {
      throw new GitError('not_found', 'no folder at this path', { path })
    }
    const kept = found.get(keyOf(repository.path, commitId, path))
    if (kept && names.every((name) => kept.has(name))) {
      return { commitId, last: names.flatMap((name) => pairOf(kept, name)) }
    }
    repository.assertEngine('a walk')
    const folder = { path, treeId: entry?.id ?? rootId }
    const last = await walk(repository, { commitId, ...folder, names, known }, signal)
    return { commitId, last: [...last] }
  },
})

async function walk(
  repository: OpenRepository,
  {
    commitId,
    path,
    treeId,
    names,
    known,
  }: Omit<Asked, 'ref'> & { commitId: string; treeId: string },
  signal: AbortSignal,
): Promise<FolderCommits> {
  const all = await readEntries(repository, treeId, path)
  const wanted = new Set(names)
  const entries = all.length <= whole ? all : all.filter(({ name }) => wanted.has(name))
  const history = await historyWith(repository, [commitId])
  const walk = new FolderWalk(repository, history, { path, entries, known })
  const slice = new Timeslice(3)
  walk.start(history.at(commitId))
  while (await walk.step()) {
    if (signal.aborted) throw new GitError('timeout', 'the caller went away')
    if (slice.isOver()) await slice.yield()
  }
  return walk.last
}

function keyOf(repository: string, commitId: ObjectId, path: string): string {
  return `${repository} ${commitId} ${path}`
}

function pairOf(from: FolderCommits, name: string): (readonly [string, ObjectId])[] {
  const id = from.get(name)
  return id === undefined ? [] : [[name, id]]
}

/**
 * The last commit that changed each of these entries of a folder, as `git log -1` finds it for their paths. One walk
 * finds all; a later commit's goes only as far as the one before. Fails as `readTree` does.
 */
export async function readFolderCommits(
  repo: Repo,
  options: FolderCommitsOptions,
  signal?: AbortSignal,
): Promise<FolderCommits> {
  const known = knownOf(repo.path, options.path)
  const asked = { ...options, known }
  const { commitId, last } = await repo.engine.run(folderCommitsOperation, repo.path, asked, signal)
  const key = keyOf(repo.path, commitId, options.path)
  const all = new Map([...(found.get(key) ?? []), ...last])
  found.set(key, all)
  newest.set(`${repo.path} ${options.path}`, commitId)
  return all
}

function knownOf(repository: string, path: string): KnownCommits | undefined {
  const commitId = newest.get(`${repository} ${path}`)
  const last = commitId === undefined ? undefined : found.get(keyOf(repository, commitId, path))
  return commitId === undefined || !last ? undefined : { commitId, last: [...last] }
}
