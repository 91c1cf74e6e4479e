import { ByteCache } from './byte-cache.ts'
import type { OpenRepository } from './engine/open-repository.ts'
import { GitError } from './error.ts'
import { readLinked, readTyped } from './objects.ts'
import { modeText, parseCommit, parseTree, type RawEntry, typeOfMode } from './parse-object.ts'
import { emptyTree, type ObjectId, type TreeEntry } from './types.ts'

/** An entry together with the bytes of its name. */
export interface WalkedEntry extends TreeEntry {
  readonly raw: Buffer
}

/** Trees never change, so their bytes stay valid; small enough to keep in every engine process. */
const trees = new ByteCache<Buffer>(24 * 1024 * 1024, (data) => data.length)

/** The bytes of a tree object. */
export async function readTreeData(repository: OpenRepository, id: ObjectId): Promise<Buffer> {
  if (id === emptyTree) return Buffer.alloc(0)
  // The path is part of the key: one repository must not show what only another one has.
  const key = `${repository.path} ${id}`
  const known = trees.get(key)
  if (known) return known
  const data = await readLinked(repository, id, 'tree')
  trees.set(key, data)
  return data
}

/** The root tree of a commit. */
export async function rootTree(repository: OpenRepository, commitId: ObjectId): Promise<ObjectId> {
  return parseCommit(commitId, await readTyped(repository, commitId, 'commit')).treeId
}

/** The entries of one tree, with their full paths. */
export async function readEntries(
  repository: OpenRepository,
  treeId: ObjectId,
  path: string,
): Promise<WalkedEntry[]> {
  const data = await readTreeData(repository, treeId)
  const folder = Buffer.from(path === '' ? '' : `${path}/`)
  return parseTree(treeId, data).map((entry) => describe(entry, folder))
}

function describe(entry: RawEntry, folder: Buffer): WalkedEntry {
  const name = entry.name.toString('utf8')
  const lossy = name.includes('\ufffd') && !Buffer.from(name).equals(entry.name)
  const start = folder.toString('utf8')
  const rawPath =
    lossy || start.includes('\ufffd') ? Buffer.concat([folder, entry.name]) : undefined
  return {
    id: entry.id,
    name,
    path: start + name,
    type: typeOfMode(entry.mode),
    mode: modeText(entry.mode),
    raw: entry.name,
    ...(rawPath === undefined ? {} : { rawPath }),
  }
}

/** How deep folders may nest: deeper ones are made to break programs. */
const maxDepth = 512

/** Every entry below a tree, folders included, in git's order (`ls-tree -r -t`). */
export async function allEntries(
  repository: OpenRepository,
  treeId: ObjectId,
  path: string,
  signal: AbortSignal,
): Promise<WalkedEntry[]> {
  const known = recursive.get(`${repository.path} ${treeId} ${path}`)
  if (known) return known
  const start = Buffer.from(path === '' ? '' : `${path}/`)
  const result = await gather(repository, treeId, start, signal, 0)
  recursive.set(`${repository.path} ${treeId} ${path}`, result)
  return result
}

/** Whole listings of the trees asked for last: pages of one listing come one after the other. */
const recursive = new ByteCache<WalkedEntry[]>(24 * 1024 * 1024, (entries) => {
  let size = 0
  for (const entry of entries) size += 250 + entry.path.length
  return size
})

async function gather(
  repository: OpenRepository,
  treeId: ObjectId,
  folder: Buffer,
  signal: AbortSignal,
  depth: number,
): Promise<WalkedEntry[]> {
  if (signal.aborted) throw new GitError('timeout', 'the caller went away')
  if (depth > maxDepth) throw new GitError('too_large', 'folders nest too deep')
  const entries = parseTree(treeId, await readTreeData(repository, treeId)).map((entry) =>
    describe(entry, folder),
  )
  // All folders of a level are read at once: one after the other costs a thread switch each.
  const below = await Promise.all(
    entries.map((entry) =>
      entry.type === 'tree'
        ? gather(repository, entry.id, Buffer.concat([folder, entry.raw, slash]), signal, depth + 1)
        : none,
    ),
  )
  return entries.flatMap((entry, i) => [entry, ...(below[i] ?? none)])
}

const slash = Buffer.from('/')
const none: readonly WalkedEntry[] = []

/** The entry at a path below a tree; undefined when there is none. */
export async function findEntry(
  repository: OpenRepository,
  treeId: ObjectId,
  path: string,
): Promise<WalkedEntry | undefined> {
  const parts = path.split('/')
  const last = parts.pop() ?? ''
  let at = treeId
  let folder = ''
  for (const part of parts) {
    const found = lookUp(at, await readTreeData(repository, at), Buffer.from(part))
    if (!found || typeOfMode(found.mode) !== 'tree') return undefined
    at = found.id
    folder += `${part}/`
  }
  const found = lookUp(at, await readTreeData(repository, at), Buffer.from(last))
  return found && describe(found, Buffer.from(folder))
}

/** One entry of a tree object by name, without reading the others' ids. */
export function lookUp(treeId: ObjectId, data: Buffer, name: Buffer): RawEntry | undefined {
  const idBytes = treeId.length / 2
  // A name stands between a space and a NUL; the bytes of an id may look the same, so entries are
  // stepped through unless the pattern is nowhere at all.
  const pattern = Buffer.concat([Buffer.from(' '), name, Buffer.of(0)])
  let candidate = data.indexOf(pattern)
  if (candidate < 0) return undefined
  for (let at = 0; at < data.length; ) {
    const gap = data.indexOf(0x20, at)
    const end = data.indexOf(0, gap + 1)
    if (gap < 0 || end < 0) throw new GitError('failed', `tree ${treeId} is damaged`)
    if (gap === candidate) {
      return {
        mode: Number.parseInt(data.toString('latin1', at, gap), 8),
        name: data.subarray(gap + 1, end),
        id: data.toString('hex', end + 1, end + 1 + idBytes),
      }
    }
    if (gap > candidate) {
      candidate = data.indexOf(pattern, gap)
      if (candidate < 0) return undefined
    } else at = end + 1 + idBytes
  }
  return undefined
}
