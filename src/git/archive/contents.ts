import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { OpenRepository } from '../engine/open-repository.ts'
import { GitError } from '../error.ts'
import { readLfsPointer } from '../lfs-pointer.ts'
import { readTyped } from '../objects.ts'
import { allEntries } from '../tree-walk.ts'
import type { ObjectId, TreeEntry } from '../types.ts'
import { BlobFeed, type FedBlob } from './blob-feed.ts'

/** What an archive is to hold. */
export interface Selection {
  /** Only this file or folder; empty for everything. */
  readonly path: string
  /** Files and folders to leave out, relative to the root. */
  readonly excludePaths: readonly string[]
}

/** One thing in an archive. Folders come before what is in them, and only if something is. */
export type Item =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | {
      readonly kind: 'file'
      readonly path: string
      readonly executable: boolean
      readonly size: number
      readonly body: FedBlob['body']
    }

export interface Contents {
  readonly entries: readonly TreeEntry[]
  /** Something that only `git archive` knows how to do: attributes, patterns, names as bytes. */
  readonly needsGit: boolean
  /** Names that are no UTF-8, which only git writes as they are. */
  readonly namesAreBytes: boolean
}

/** Attributes that change what is packed (gitattributes(5)); `eol=lf` and `text` change nothing here. */
const changing = /\b(?:export-ignore|export-subst|ident|working-tree-encoding|eol=crlf)\b/
const largestAttributes = 1024 * 1024
const pattern = /[*?[\\]|^:/

function isWithin(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`)
}

async function hasChangingAttributes(
  repository: OpenRepository,
  entries: readonly TreeEntry[],
): Promise<boolean> {
  const files = entries.filter((entry) => entry.name === '.gitattributes' && entry.type === 'blob')
  const found = await Promise.all(
    files.map(async ({ id }) => {
      const data = await readTyped(repository, id, 'blob')
      return data.length > largestAttributes || changing.test(data.toString('latin1'))
    }),
  )
  return found.includes(true)
}

/** What a selection of a tree holds; `not_found` when there is nothing at the path. */
export async function readContents(
  repository: OpenRepository,
  treeId: ObjectId,
  selection: Selection,
  signal: AbortSignal,
): Promise<Contents> {
  const all = await allEntries(repository, treeId, '', signal)
  const chosen = all.filter((entry) => isWithin(entry.path, selection.path))
  if (selection.path !== '' && chosen.length === 0) {
    throw new GitError('not_found', 'no file or folder at this path')
  }
  const excluded = selection.excludePaths.map((path) => path.replace(/\/+$/, ''))
  const entries = chosen.filter((entry) => !excluded.some((path) => isWithin(entry.path, path)))
  const namesAreBytes = entries.some((entry) => entry.rawPath !== undefined)
  const needsGit =
    namesAreBytes ||
    excluded.some((path) => pattern.test(path)) ||
    (await hasChangingAttributes(repository, all))
  return { entries, needsGit, namesAreBytes }
}

/** The file that a pointer stands for, when the caller has it. */
async function findLarge(body: Buffer, lfs: ReadonlyMap<string, string>) {
  const pointer = lfs.size === 0 ? undefined : readLfsPointer(body)
  const file = pointer && lfs.get(pointer.oid)
  if (file === undefined) return undefined
  const found = await stat(file).catch(() => undefined)
  return found && { size: found.size, body: chunksOf(file) }
}

async function* chunksOf(file: string): AsyncGenerator<Buffer> {
  yield* createReadStream(file, { highWaterMark: 256 * 1024 })
}

/** Tells which folders were not named yet on the way to a path. */
class Folders {
  readonly #named = new Set<string>()

  above(path: string): Item[] {
    const items: Item[] = []
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      const folder = path.slice(0, at)
      if (this.#named.has(folder)) continue
      this.#named.add(folder)
      items.push({ kind: 'folder', path: folder })
    }
    return items
  }
}

/** The things of an archive one after the other; a file's body is read before the next is asked for. */
export async function* readItems(
  repository: OpenRepository,
  entries: readonly TreeEntry[],
  lfs: ReadonlyMap<string, string>,
  signal: AbortSignal,
): AsyncGenerator<Item> {
  const blobs = entries.filter((entry) => entry.type === 'blob')
  const feed = new BlobFeed(
    repository.path,
    blobs.map((entry) => entry.id),
    signal,
  )
  const folders = new Folders()
  try {
    for (const entry of entries) {
      if (entry.type === 'tree') continue
      yield* folders.above(entry.path)
      // A submodule is a folder without anything in it, as in a clone.
      if (entry.type === 'commit') yield* folders.above(`${entry.path}/`)
      else yield await asItem(entry, await feed.next(), lfs)
    }
  } finally {
    feed.close()
  }
}

async function asItem(
  entry: TreeEntry,
  blob: FedBlob,
  lfs: ReadonlyMap<string, string>,
): Promise<Item> {
  const { path, mode } = entry
  if (mode === '120000' && Buffer.isBuffer(blob.body)) {
    return { kind: 'link', path, target: blob.body.toString('utf8') }
  }
  const large = Buffer.isBuffer(blob.body) ? await findLarge(blob.body, lfs) : undefined
  const executable = (Number.parseInt(mode, 8) & 0o111) !== 0
  return { kind: 'file', path, executable, ...(large ?? blob) }
}
