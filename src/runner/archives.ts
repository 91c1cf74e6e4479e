import { createReadStream, createWriteStream } from 'node:fs'
import { lstat, mkdir, readlink, realpath, rm, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip } from 'node:zlib'
import { type Entry, type Options, open, type ZipFile } from 'yauzl'
import type { FoundFile } from './globs.ts'
import type { UnpackRoom } from './unpack-room.ts'

const openZip = promisify<string, Options, ZipFile>(open)
const LINK = 0o120000

/** Writes files and links below a folder into a zip file. */
export async function writeZip(
  folder: string,
  files: readonly FoundFile[],
  target: string,
): Promise<void> {
  // Loaded where a job has artifacts: the server is started from the same file, and packs none.
  const { default: archiver } = await import('archiver')
  const zip = archiver('zip', { zlib: { level: 3 }, statConcurrency: 2 })
  const written = pipeline(zip, createWriteStream(target, { mode: 0o600 }))
  // It may fail before anybody waits for it.
  written.catch(() => {})
  for (const { path, isLink } of files) {
    const from = join(folder, path)
    if (isLink) zip.symlink(path, await readlink(from))
    else zip.file(from, { name: path, stats: await stat(from) })
  }
  // Whoever only waits for the end of the archive does not see that the disk is full.
  await Promise.all([zip.finalize(), written])
}

/** Writes files one after the other, each compressed, as reports are sent. */
export async function writeGzip(
  folder: string,
  files: readonly FoundFile[],
  target: string,
): Promise<void> {
  for (const [index, { path }] of files.entries()) {
    const out = createWriteStream(target, { mode: 0o600, flags: index === 0 ? 'w' : 'a' })
    await pipeline(createReadStream(join(folder, path)), createGzip(), out)
  }
}

/**
 * Unpacks a zip file into a folder. Entries that would leave it are refused, by their name or through a link; links
 * are left out, since nobody knows where they lead. It ends where there is no more room.
 */
export async function unpackZip(archive: string, folder: string, room: UnpackRoom): Promise<void> {
  const zip = await openZip(archive, { lazyEntries: true, autoClose: false })
  const target = { root: await realpath(folder), folders: new Set<string>(), room }
  try {
    await new Promise<void>((resolve, reject) => {
      zip.on('entry', (entry: Entry) => {
        unpackEntry(zip, entry, target).then(() => zip.readEntry(), reject)
      })
      zip.once('end', () => resolve())
      zip.once('error', reject)
      zip.readEntry()
    })
  } finally {
    zip.close()
  }
}

/** Where an archive goes. */
interface Target {
  readonly root: string
  /** Those below it that are known to be there. */
  readonly folders: Set<string>
  readonly room: UnpackRoom
}

async function unpackEntry(zip: ZipFile, entry: Entry, target: Target): Promise<void> {
  // yauzl ends the stream of an entry with an error where it has more bytes than it says.
  target.room.take(entry.uncompressedSize)
  const mode = entry.externalFileAttributes >>> 16
  if ((mode & 0o170000) === LINK) return
  // yauzl has refused names with `..` and absolute ones.
  const path = join(target.root, entry.fileName)
  await makeFolder(entry.fileName.endsWith('/') ? path : dirname(path), target)
  if (entry.fileName.endsWith('/')) return
  const known = await lstat(path).catch(() => undefined)
  // A link leads elsewhere, and a pipe waits for a reader for ever.
  if (known && !known.isFile() && !known.isDirectory()) await rm(path)
  const stream = await promisify(zip.openReadStream.bind(zip) as OpenStream)(entry)
  await pipeline(stream, createWriteStream(path, { mode: (mode & 0o777) | 0o600 }))
}

/** Makes a folder and those above it, one after the other: none is made behind a link that leads out of the root. */
async function makeFolder(path: string, target: Target): Promise<void> {
  const { root, folders, room } = target
  if (path === root || folders.has(path)) return
  await makeFolder(dirname(path), target)
  const known = await lstat(path).catch(() => undefined)
  if (!known) {
    room.take(0)
    await mkdir(path)
  } else if (known.isSymbolicLink() && !(await realpath(path)).startsWith(root + sep)) {
    throw new Error(`${relative(root, path)} leaves the folder through a link`)
  }
  folders.add(path)
}

type OpenStream = (
  entry: Entry,
  done: (error: Error | null, stream: NodeJS.ReadableStream) => void,
) => void
