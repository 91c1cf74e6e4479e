import { byteCache } from '../../base/byte-cache.ts'
import { mebibyte } from '../engine/budget.ts'
import { engineCall } from '../engine/engine-call.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { operation } from '../engine/operation.ts'
import { GitError } from '../error.ts'
import { cleanPath } from '../names.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId, TreeEntry } from '../types.ts'
import { treeOfCommit } from './commit.ts'
import { entryStarts, parseTree } from './parse-object.ts'
import { resolveCommit } from './resolve.ts'
import {
  allEntries,
  describeAll,
  findEntry,
  readEntries,
  readTreeData,
  type WalkedEntry,
} from './tree-walk.ts'

export interface TreeOptions {
  readonly ref: string
  /** The folder to list; empty or absent for the root. */
  readonly path?: string | undefined
  readonly recursive?: boolean | undefined
  /** Entries to leave out at the start. */
  readonly offset?: number | undefined
  /** The last entry already seen: its path, or its object id (older clients send that). */
  readonly after?: string | undefined
  /** How many entries to give; all of them when absent. */
  readonly limit?: number | undefined
}

export interface TreePage {
  readonly commitId: ObjectId
  readonly entries: readonly TreeEntry[]
  /** Entries of the whole listing. */
  readonly total: number
  /** Whether entries follow the page. */
  readonly more: boolean
  /** The path of the page's last entry in git's order: the token for the next page. */
  readonly last?: string | undefined
}

/**
 * The entries of a folder, a page of them or all. Pages follow git's order of paths; within a page
 * folders come first, then files, then submodules (docs/contract/B-resolved §1.1). `not_found` for an unknown
 * ref; with `detail.path` for a path that is no folder there.
 */
export const readTree = engineCall({
  name: 'readTree',
  lane: (options: TreeOptions) => (options.recursive ? 'heavy' : 'light'),
  inProcess: (options) => !options.recursive,
  async run({ repository, signal }, options: TreeOptions): Promise<TreePage> {
    const { ref, path: given = '' } = options
    const { commitId, path, treeId } = await folderAt(repository, { ref, path: given })
    const { page, from, total } = options.recursive
      ? pageOf(await allEntries(repository, treeId, path, signal), options)
      : await flatPage(repository, treeId, path, options)
    return {
      commitId,
      entries: treesFirst(page).map(({ raw: _raw, ...entry }) => entry),
      total,
      more: from + page.length < total,
      last: page.at(-1)?.path,
    }
  },
})

interface Place {
  readonly ref: string
  readonly path: string
}

/** What stands at a path of a revision: no entry at the root, and where there is nothing. */
export async function entryAt(repository: OpenRepository, place: Place) {
  const { commitId } = await resolveCommit(repository, place.ref)
  const path = cleanPath(place.path)
  const rootId = await treeOfCommit(repository, commitId)
  const entry = path === '' ? undefined : await findEntry(repository, rootId, path)
  return { commitId, rootId, path, entry }
}

/** The tree at a path, where the revision has one. */
async function folderAt(repository: OpenRepository, place: Place) {
  const { commitId, rootId, path, entry } = await entryAt(repository, place)
  if (path === '') return { commitId, path, treeId: rootId }
  if (entry?.type !== 'tree') throw new GitError('not_found', 'no folder at this path', { path })
  return { commitId, path, treeId: entry.id }
}

interface Slice {
  readonly page: readonly WalkedEntry[]
  readonly from: number
  readonly total: number
}

function pageOf(all: readonly WalkedEntry[], options: TreeOptions): Slice {
  const from = startOf(all, options)
  const to = options.limit === undefined ? undefined : from + options.limit
  return { page: all.slice(from, to), from, total: all.length }
}

/** Without a token only the entries of the page need describing: folders can hold thousands. */
async function flatPage(
  repository: OpenRepository,
  treeId: ObjectId,
  path: string,
  options: TreeOptions,
): Promise<Slice> {
  if (options.after) return pageOf(await readEntries(repository, treeId, path), options)
  const data = await readTreeData(repository, treeId)
  const starts = entryStarts(treeId, data)
  const total = starts.length - 1
  const from = options.offset ?? 0
  const to = options.limit === undefined ? total : Math.min(from + options.limit, total)
  const part = data.subarray(starts[Math.min(from, total)], starts[to])
  return { page: describeAll(parseTree(treeId, part), path), from, total }
}

function startOf(entries: readonly WalkedEntry[], options: TreeOptions): number {
  const { after } = options
  if (after === undefined || after === '') return options.offset ?? 0
  const byPath = entries.findIndex((entry) => entry.path === after)
  const at = byPath >= 0 ? byPath : entries.findIndex((entry) => entry.id === after)
  if (at < 0) throw new GitError('invalid', 'the page token names no entry')
  return at + 1
}

const ranks: Readonly<Record<TreeEntry['type'], number>> = { tree: 0, blob: 1, commit: 2 }

function treesFirst(entries: readonly WalkedEntry[]): readonly WalkedEntry[] {
  return entries.toSorted((a, b) => ranks[a.type] - ranks[b.type])
}

/** All entries below a folder, as JSON text. */
export interface WholeTree {
  readonly treeId: ObjectId
  readonly path: string
  readonly json: Buffer
}

/** Trees never change, and the text of one is an answer as it stands. */
const texts = byteCache<Buffer>(6 * mebibyte, (json) => json.length)

const readWholeTreeOperation = operation({
  name: 'readWholeTree',
  lane: 'heavy',
  inProcess: () => true,
  async run({ repository, signal }, place: Place): Promise<WholeTree> {
    const { path, treeId } = await folderAt(repository, place)
    const known = texts.get(textKey(repository.path, treeId, path))
    if (known) return { treeId, path, json: known }
    repository.assertEngine('a whole tree')
    const entries = treesFirst(await allEntries(repository, treeId, path, signal))
    const shown = entries.map(({ id, name, type, path, mode }) => ({ id, name, type, path, mode }))
    return { treeId, path, json: Buffer.from(JSON.stringify(shown)) }
  },
})

function textKey(repository: string, treeId: ObjectId, path: string): string {
  return `${repository} ${treeId} ${path}`
}

/**
 * Every entry below a folder as the text of a JSON list: id, name, type, path and mode of each, in the order of
 * `readTree`. Thousands of entries cross processes several times slower as data. Fails as `readTree` does.
 */
export async function readWholeTree(
  repo: Repo,
  place: Place,
  signal?: AbortSignal,
): Promise<Buffer> {
  const found = await repo.engine.run(readWholeTreeOperation, repo.path, place, signal)
  texts.set(textKey(repo.path, found.treeId, found.path), found.json)
  return found.json
}

/** The entry at a path of a revision; undefined when the path does not exist there. */
export const findTreeEntry = engineCall({
  name: 'findTreeEntry',
  lane: 'light',
  inProcess: () => true,
  async run({ repository }, place: Place): Promise<TreeEntry | undefined> {
    const { entry } = await entryAt(repository, place)
    if (!entry) return undefined
    const { raw: _raw, ...plain } = entry
    return plain
  },
})
