import { byteCache } from '../../base/byte-cache.ts'
import { budget, mebibyte } from '../engine/budget.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { operation } from '../engine/operation.ts'
import { GitError } from '../error.ts'
import { cleanPath } from '../names.ts'
import { loadCommits } from '../objects/commit.ts'
import { resolveCommit } from '../objects/resolve.ts'
import { findEntry, readEntries, rootTree } from '../objects/tree-walk.ts'
import type { Repo } from '../repo.ts'
import type { Commit, ObjectId, TreeEntry } from '../types.ts'
import { lastChanges } from './graph/last-changes.ts'
import { historyWith } from './graph/load.ts'
import { commitSource } from './log-source.ts'

export interface LastCommitsOptions {
  readonly ref: string
  /** The folder; the root when empty or absent. */
  readonly path?: string | undefined
  readonly offset?: number | undefined
  readonly limit?: number | undefined
}

export interface LastCommits {
  /** The folder's entries, in git's order, each with the commit that changed it last. */
  readonly entries: readonly (TreeEntry & { readonly commitId: ObjectId })[]
  /** Those commits, each once. */
  readonly commits: readonly Commit[]
}

export const readLastCommitsOperation = operation({
  name: 'readLastCommits',
  lane: 'heavy',
  async run({ repository, signal }, options: LastCommitsOptions): Promise<LastCommits> {
    const { commitId } = await resolveCommit(repository, options.ref)
    const path = cleanPath(options.path ?? '')
    const root = await rootTree(repository, commitId)
    const folder =
      path === '' ? { type: 'tree', id: root } : await findEntry(repository, root, path)
    if (folder?.type !== 'tree') throw new GitError('not_found', 'no folder at this path', { path })
    const history = await historyWith(repository, [commitId])
    const found = await lastChanges(repository, history, history.at(commitId), path, signal)
    const from = options.offset ?? 0
    const to = options.limit === undefined ? undefined : from + options.limit
    const entries = (await readEntries(repository, folder.id, path))
      .slice(from, to)
      .map(({ raw, ...entry }) => ({
        ...entry,
        commitId: found.get(raw.toString('latin1')) ?? commitId,
      }))
    const ids = new Set(entries.map((entry) => entry.commitId))
    return { entries, commits: await loadCommits(repository, [...ids]) }
  },
})

/** The last commit of every entry of a folder (`git log -1 -- entry` for each of them). */
export function readLastCommits(
  repo: Repo,
  options: LastCommitsOptions,
  signal?: AbortSignal,
): Promise<LastCommits> {
  return repo.engine.run(readLastCommitsOperation, repo.path, options, signal)
}

/** Commit and path to the last commit of that path; both never change. */
const lastOfPath = byteCache<ObjectId>(budget(4 * mebibyte, mebibyte), () => 80)

/** The last commit that changed a path, seen from a commit; undefined when none ever did. */
export async function lastCommitOf(
  repository: OpenRepository,
  commitId: ObjectId,
  path: string,
  signal: AbortSignal,
): Promise<ObjectId | undefined> {
  const key = `${repository.path} ${commitId} ${path}`
  const known = lastOfPath.get(key)
  if (known !== undefined) return known
  repository.assertEngine('a walk')
  const { history, source } = await commitSource(repository, {
    range: { include: [commitId], exclude: [] },
    path,
    firstParent: false,
    topological: false,
    since: undefined,
  })
  const [position] = await source(1, signal)
  if (position === undefined) return undefined
  const id = history.idOf(position)
  lastOfPath.set(key, id)
  return id
}

/** Remembers in this process what another one found. */
export function noteLastCommit(repo: Repo, commitId: ObjectId, path: string, last: ObjectId): void {
  lastOfPath.set(`${repo.path} ${commitId} ${path}`, last)
}

export const findLastCommitOperation = operation({
  name: 'findLastCommit',
  lane: 'heavy',
  async run(
    { repository, signal },
    input: { readonly revision: string; readonly path: string },
  ): Promise<ObjectId | undefined> {
    const { commitId } = await resolveCommit(repository, input.revision)
    return lastCommitOf(repository, commitId, cleanPath(input.path), signal)
  },
})

/** The id of the last commit that changed a path, seen from a revision; undefined when none did. */
export function findLastCommit(
  repo: Repo,
  revision: string,
  path: string,
  signal?: AbortSignal,
): Promise<ObjectId | undefined> {
  return repo.engine.run(findLastCommitOperation, repo.path, { revision, path }, signal)
}
