import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { type Entry, type Options, open, type ZipFile } from 'yauzl'
import { badRequest, notFound, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Bytes } from '../../http/endpoint.ts'

/** A zip archive in the store of files. */
export interface StoredArchive {
  readonly sha256: string
}

const openZip = promisify<string, Options, ZipFile>(open)

/** Archives with more entries than this are downloaded as a whole. */
const MOST_ENTRIES = 100_000
const SYMLINK = 0o120000

/**
 * One file out of an archive, as a stream: only the list of its entries and that one are read. What is no plain file, or
 * has a path that leaves the archive, is not given out (docs/contract/B-resolved §5.2).
 */
export async function openZipEntry(
  ctx: Pick<Ctx, 'files'>,
  archive: StoredArchive,
  path: string,
  type = 'application/octet-stream',
): Promise<Bytes> {
  assertPath(path)
  const zip = await openArchive(ctx, archive)
  const entry = await findEntry(zip, path)
  if (!entry) {
    zip.close()
    throw notFound()
  }
  const body = await new Promise<Readable>((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream)))
  }).catch(() => {
    zip.close()
    throw badRequest('the archive is broken')
  })
  // Whoever reads it gets the error; one that nobody reads must not end the process.
  body.on('error', () => {})
  body.once('close', () => zip.close())
  const name = (path.split('/').at(-1) ?? '').replaceAll(/[^\w.-]/g, '_')
  const headers = { 'Content-Disposition': `attachment; filename="${name}"` }
  return { body, type, headers }
}

function assertPath(path: string): void {
  const parts = path.split('/')
  const isWrong = path === '' || path.startsWith('/') || path.endsWith('/') || path.includes('\\')
  if (isWrong || parts.some((part) => part === '..' || part === '.' || part === '')) {
    throw badRequest('invalid path')
  }
}

async function openArchive(ctx: Pick<Ctx, 'files'>, archive: StoredArchive): Promise<ZipFile> {
  const zip = await openFile(ctx, archive)
  if (zip.entryCount <= MOST_ENTRIES) return zip
  zip.close()
  throw badRequest('the archive has too many entries')
}

async function openFile(ctx: Pick<Ctx, 'files'>, archive: StoredArchive): Promise<ZipFile> {
  try {
    return await openZip(ctx.files.pathOf(archive.sha256), {
      lazyEntries: true,
      autoClose: false,
      decodeStrings: true,
      validateEntrySizes: true,
      strictFileNames: false,
    })
  } catch {
    throw badRequest('the archive is broken')
  }
}

/** The file of this path, or undefined; 400 for a folder, which archives may name only in the paths of its files. */
async function findEntry(zip: ZipFile, path: string): Promise<Entry | undefined> {
  let isFolder = false
  const found = await new Promise<Entry | undefined>((resolve, reject) => {
    zip.on('entry', (entry: Entry) => {
      isFolder ||= entry.fileName.startsWith(`${path}/`)
      if (entry.fileName === path && isPlain(entry)) resolve(entry)
      else zip.readEntry()
    })
    zip.once('end', () => resolve(undefined))
    zip.once('error', reject)
    zip.readEntry()
  }).catch(() => {
    zip.close()
    throw badRequest('the archive is broken')
  })
  if (found || !isFolder) return found
  zip.close()
  throw badRequest('invalid path')
}

/** Links are not followed: nobody knows where they lead. */
function isPlain(entry: Entry): boolean {
  return ((entry.externalFileAttributes >>> 16) & 0o170000) !== SYMLINK
}

/** What a folder of an archive holds. */
export interface TreeEntry {
  readonly name: string
  readonly path: string
  readonly type: 'file' | 'directory'
  readonly size: number | null
  readonly mode: string | null
}

/**
 * The entries of a folder inside an archive by name, or all below it; folders are known by what lies in them. Entries whose
 * path leaves the archive are left out.
 */
export async function listZipEntries(
  ctx: Pick<Ctx, 'files'>,
  archive: StoredArchive,
  { path, recursive }: { readonly path: string; readonly recursive: boolean },
): Promise<TreeEntry[]> {
  const folder = path.replace(/^\/+|\/+$/g, '')
  if (folder !== '') assertPath(folder)
  const zip = await openArchive(ctx, archive)
  const found = new Map<string, TreeEntry>()
  const prefix = folder === '' ? '' : `${folder}/`
  const add = entryAdder(found, { prefix, recursive })
  try {
    await eachEntry(zip, (entry) => {
      const name = entry.fileName.replace(/\/$/, '')
      if (name.startsWith(prefix) && name !== '' && !leavesArchive(name)) add(entry, name)
    })
  } finally {
    zip.close()
  }
  return [...found.values()].sort((one, other) => (one.path < other.path ? -1 : 1))
}

function leavesArchive(name: string): boolean {
  return name.startsWith('/') || name.includes('\\') || name.split('/').includes('..')
}

/** Characters of all paths of a list: a long path that is deep names many folders. */
const MOST_LISTED = 10_000_000

/** Adds an entry, and every folder above it that is not there yet, to what a folder of the archive holds. */
function entryAdder(
  found: Map<string, TreeEntry>,
  at: { readonly prefix: string; readonly recursive: boolean },
): (entry: Entry, name: string) => void {
  let room = MOST_LISTED
  const add = (path: string, file: Entry | undefined) => {
    room -= path.length
    if (room < 0) throw badRequest('the archive has too many entries')
    const name = path.slice(path.lastIndexOf('/') + 1)
    const type = file ? 'file' : 'directory'
    const mode = file ? ((file.externalFileAttributes >>> 16) & 0o177777).toString(8) : null
    found.set(path, { name, path, type, size: file?.uncompressedSize ?? null, mode })
  }
  return (entry, name) => {
    const end = at.recursive ? -1 : name.indexOf('/', at.prefix.length)
    const path = end < 0 ? name : name.slice(0, end)
    if (path === name && !entry.fileName.endsWith('/')) add(path, entry)
    else if (!found.has(path)) add(path, undefined)
    // Those above a known folder are known too.
    let above = path.lastIndexOf('/')
    while (above > at.prefix.length && !found.has(path.slice(0, above))) {
      add(path.slice(0, above), undefined)
      above = path.lastIndexOf('/', above - 1)
    }
  }
}

/** Gives every entry, one after the other; 400 for an archive that is broken, or that nobody should list. */
async function eachEntry(zip: ZipFile, visit: (entry: Entry) => void): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    zip.on('entry', (entry: Entry) => {
      try {
        visit(entry)
        zip.readEntry()
      } catch (error) {
        // Thrown here it would end the process.
        reject(error)
      }
    })
    zip.once('end', () => resolve())
    zip.once('error', reject)
    zip.readEntry()
  }).catch((error: unknown) => {
    throw error instanceof Problem ? error : badRequest('the archive is broken')
  })
}
