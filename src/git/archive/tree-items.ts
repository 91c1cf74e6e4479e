import { isUtf8 } from 'node:buffer'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { mebibyte } from '../engine/budget.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import type { Job } from '../engine/operation.ts'
import { GitError } from '../error.ts'
import { gitStream } from '../git-stream.ts'
import { isThere, readLinked, readObjectHeader, readSmall } from '../objects/objects.ts'
import { findEntry, readEntries } from '../objects/tree-walk.ts'
import type { ObjectId, TreeEntry } from '../types.ts'
import type { Item } from './items.ts'

/** Larger files come from the git program piece by piece. */
const memoryLimit = 8 * mebibyte
/** To read more than these takes libgit2 longer than it takes git to start and to read them. */
const mostEntries = 100
/**
 * Attributes, and macros that may stand for them, that decide what an archive holds or what is in a file (gitattributes(5)). Line
 * ends are as they are stored, unless they shall be those of Windows.
 */
const decisive = /export-ignore|export-subst|\[attr\]|working-tree-encoding|eol=crlf|\bident\b/
/** Larger ones are left to git. */
const attributesLimit = 100 * 1024
const targetLimit = 4096

type Place = Pick<Job, 'repository' | 'signal'>

/**
 * What an archive of a tree, or of one path in it, holds, as libgit2 reads it. Undefined where git does it: where attributes may
 * change files or leave some out, where names or targets of links are no UTF-8, and where there is
 * much to read.
 */
export async function treeItems(
  job: Place,
  treeId: ObjectId,
  path: string,
): Promise<AsyncIterable<Item> | undefined> {
  const { repository } = job
  const above = foldersAbove(path)
  const all = await entriesAt(job, treeId, path)
  if (!all) return undefined
  const entries = withoutEmptyFolders(all)
  if (await haveAttributes(repository, treeId, above, entries)) return undefined
  if (await haveOddLinks(repository, entries)) return undefined
  return readItems(job, entries.length > 0 ? above : [], entries)
}

/** `a` and `a/b` of `a/b/c`. */
function foldersAbove(path: string): string[] {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'))
}

/** What is at a path and below it; undefined where that is more than libgit2 shall read. */
async function entriesAt(
  { repository }: Place,
  treeId: ObjectId,
  path: string,
): Promise<TreeEntry[] | undefined> {
  const found: TreeEntry[] = []
  const take = async (id: ObjectId, folder: string): Promise<boolean> => {
    for (const entry of await readEntries(repository, id, folder)) {
      found.push(entry)
      // A name that is no UTF-8 would be another one below it.
      if (found.length > mostEntries || entry.rawPath !== undefined) return false
      if (entry.type === 'tree' && !(await take(entry.id, entry.path))) return false
    }
    return true
  }
  if (path === '') return (await take(treeId, '')) ? found : undefined
  const entry = await findEntry(repository, treeId, path)
  if (!entry) return found
  found.push(entry)
  return entry.type !== 'tree' || (await take(entry.id, path)) ? found : undefined
}

/** git packs no folder that holds nothing. What is in a folder follows it. */
function withoutEmptyFolders(entries: readonly TreeEntry[]): TreeEntry[] {
  const kept: TreeEntry[] = []
  for (const entry of entries.toReversed()) {
    if (entry.type === 'tree' && !kept.at(-1)?.path.startsWith(`${entry.path}/`)) continue
    kept.push(entry)
  }
  return kept.reverse()
}

async function haveAttributes(
  repository: OpenRepository,
  treeId: ObjectId,
  above: readonly string[],
  entries: readonly TreeEntry[],
): Promise<boolean> {
  if (existsSync(join(repository.path, 'info', 'attributes'))) return true
  const places = ['.gitattributes', ...above.map((folder) => `${folder}/.gitattributes`)]
  const higher = await Promise.all(places.map((place) => findEntry(repository, treeId, place)))
  const within = entries.filter(({ name }) => name === '.gitattributes')
  for (const entry of [...higher, ...within]) {
    if (entry?.type !== 'blob') continue
    if ((await readObjectHeader(repository, entry.id)).size > attributesLimit) return true
    const text = await readLinked(repository, entry.id, 'blob')
    if (decisive.test(text.toString('latin1'))) return true
  }
  return false
}

/** Targets that are no text would not come out as they are. */
async function haveOddLinks(
  repository: OpenRepository,
  entries: readonly TreeEntry[],
): Promise<boolean> {
  for (const { id, mode } of entries) {
    if (mode !== '120000') continue
    if ((await readObjectHeader(repository, id)).size > targetLimit) return true
    const target = await readLinked(repository, id, 'blob')
    if (!isUtf8(target) || target.includes(0)) return true
  }
  return false
}

async function* readItems(
  job: Place,
  above: readonly string[],
  entries: readonly TreeEntry[],
): AsyncGenerator<Item> {
  for (const path of above) yield { kind: 'folder', path }
  for (const entry of entries) {
    if (job.signal.aborted) throw new GitError('timeout', 'the caller went away')
    yield await readItem(job, entry)
  }
}

async function readItem(job: Place, { id, path, type, mode }: TreeEntry): Promise<Item> {
  // The place of a submodule is an empty folder.
  if (type !== 'blob') return { kind: 'folder', path }
  const { repository } = job
  const executable = (Number.parseInt(mode, 8) & 0o100) !== 0
  const small = readSmall(repository, id)
  if (!small && isThere(repository, id)) {
    const { size } = await readObjectHeader(repository, id)
    if (size > memoryLimit) return { kind: 'file', path, executable, size, body: piecesOf(job, id) }
  }
  const body = small?.data ?? (await readLinked(repository, id, 'blob'))
  if (mode === '120000') return { kind: 'link', path, target: body.toString() }
  return { kind: 'file', path, executable, size: body.length, body }
}

/** A program is started only for what is read. */
async function* piecesOf({ repository, signal }: Place, id: ObjectId): AsyncGenerator<Buffer> {
  const args = ['cat-file', 'blob', id]
  for await (const piece of gitStream({ repo: repository.path, args, signal, timeout: 0 })) {
    yield piece as Buffer
  }
}
