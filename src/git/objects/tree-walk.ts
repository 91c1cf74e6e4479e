import { bufferBytes, byteCache } from '../../base/byte-cache.ts'
import { budget, mebibyte } from '../engine/budget.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { damaged, GitError } from '../error.ts'
import { emptyTrees, type ObjectId, type TreeEntry } from '../types.ts'
import { readLinked } from './objects.ts'
import { modeText, parseTree, type RawEntry, typeOfMode } from './parse-object.ts'

/** An entry together with the bytes of its name. */
export interface WalkedEntry extends TreeEntry {
  readonly raw: Buffer
}

/** Trees never change, so their bytes stay valid; small enough to keep in every engine process. */
const trees = byteCache<Buffer>(
  budget(16 * mebibyte, 3 * mebibyte),
  (data) => bufferBytes + data.length,
)

/** The bytes of a tree object. */
export async function readTreeData(repository: OpenRepository, id: ObjectId): Promise<Buffer> {
  if (emptyTrees.has(id)) return Buffer.alloc(0)
  // The path is part of the key: one repository must not show what only another one has.
  const key = `${repository.path} ${id}`
  const known = trees.get(key)
  if (known) return known
  const data = await readLinked(repository, id, 'tree')
  trees.set(key, data)
  return data
}

/** The entries of one tree, with their full paths. */
export async function readEntries(
  repository: OpenRepository,
  treeId: ObjectId,
  path: string,
): Promise<WalkedEntry[]> {
  return describeAll(parseTree(treeId, await readTreeData(repository, treeId)), path)
}

/** Entries of one folder, with their full paths. */
export function describeAll(entries: readonly RawEntry[], path: string): WalkedEntry[] {
  const folder = Buffer.from(path === '' ? '' : `${path}/`)
  return entries.map((entry) => describe(entry, folder))
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
const recursive = byteCache<WalkedEntry[]>(12 * mebibyte, (entries) => {
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
  // Most trees asked do not hold the name: one search finds that out.
  if (data.indexOf(name) < 0) return undefined
  for (let at = 0; at < data.length; ) {
    const gap = endOfMode(treeId, data, at)
    let end = gap + 1
    // By hand: a call of `indexOf` for each entry costs more than looking at its few bytes.
    while (data[end] !== 0 && end < data.length) end += 1
    if (end - gap - 1 === name.length && data.compare(name, 0, name.length, gap + 1, end) === 0) {
      return {
        mode: Number.parseInt(data.toString('latin1', at, gap), 8),
        name: data.subarray(gap + 1, end),
        id: data.toString('hex', end + 1, end + 1 + idBytes),
      }
    }
    at = end + 1 + idBytes
  }
  return undefined
}

/** Where the mode of the entry at `at` ends: modes have five or six digits. */
function endOfMode(treeId: ObjectId, data: Buffer, at: number): number {
  // The shorter first: the name of a folder may begin with a space, a mode's sixth digit is none.
  if (data[at + 5] === 0x20) return at + 5
  if (data[at + 6] === 0x20) return at + 6
  const gap = data.indexOf(0x20, at)
  if (gap < 0) throw damaged(`the tree ${treeId} cannot be read`)
  return gap
}
