import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Instant } from '../base/clock.ts'
import { Hold } from '../base/hold.ts'
import { tooLarge } from '../base/problem.ts'
import { ownedName } from '../base/process-mark.ts'
import { FileBody } from '../base/streams/file-body.ts'
import { LostFile } from '../base/streams/lost-file.ts'
import type { SendableBody } from '../base/streams/sendable.ts'
import { buffersPassed } from '../base/workers/small-heap.ts'
import { SmallFiles } from './small-files.ts'
import { clearTemporary } from './temporary.ts'

/** What may wait to be written. */
const AHEAD_BYTES = 1024 * 1024
/** The disk begins to write a large file while it still comes in, so that there is little left to wait for at its end. */
const FLUSH_BYTES = 32 * 1024 * 1024

/** Digests that a caller may ask for beside sha256. */
export type ExtraDigest = 'md5' | 'sha1' | 'sha512'

export interface StoredFile {
  /** Its name in the store: sha256 of the bytes, in hex. */
  readonly sha256: string
  readonly size: number
  readonly digests: Readonly<Partial<Record<ExtraDigest, string>>>
}

export interface PutOptions {
  readonly digests?: readonly ExtraDigest[]
  /** More bytes than this are refused with 413. */
  readonly maxSize?: number
  /** Looks at what came before it is kept; what it throws leaves nothing behind. */
  readonly check?: (file: StoredFile) => void
}

/** Bytes `start` to `end`, both included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Bytes by their hash. Which names point to them is the business of tables. */
export interface FileStore {
  put(
    source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options?: PutOptions,
  ): Promise<StoredFile>
  /** Size in bytes, or undefined when there is no such file. */
  sizeOf(sha256: string): Promise<number | undefined>
  /** Throws `LostFile` where there is none, or one of another size than the row says. */
  open(
    sha256: string,
    range?: ByteRange,
    known?: number,
  ): Promise<{ readonly body: FileBody; readonly size: number }>
  /** As `open`, for files that many ask for: small ones come from memory. */
  openOften(
    sha256: string,
    range?: ByteRange,
  ): Promise<{ readonly body: SendableBody; readonly size: number }>
  read(sha256: string): Promise<Buffer>
  /** Where the file lies, for programs that want a path. */
  pathOf(sha256: string): string
  /** Deletes unless somebody has put the same bytes again since `before`, or deletions are held. */
  deleteOlder(sha256: string, before: Instant): Promise<boolean>
  /** The names of files that nobody has put since a moment. */
  listOlder(before: Instant): AsyncIterable<string>
}

/** Opens `<folder>/files`; `clear` takes away what a crash left half written, and belongs to the server alone. */
export async function openFileStore(
  folder: string,
  options: { readonly clear?: boolean; readonly deletions?: Hold } = {},
): Promise<FileStore> {
  const root = join(folder, 'files')
  const temp = join(root, 'tmp')
  await mkdir(temp, { recursive: true, mode: 0o700 })
  await syncFolder(folder)
  if (options.clear ?? true) await clearTemporary(temp)
  const pathOf = (sha256: string) => filePath(root, sha256)
  const small = new SmallFiles()
  const deletions = options.deletions ?? new Hold()
  const lasting = new LastingFolders(root)
  const openFile = async (sha256: string, range?: ByteRange, known?: number) => {
    const handle = await orLost(sha256, open(pathOf(sha256), 'r'))
    const { size } = await handle.stat()
    if (known !== undefined && known !== size) {
      await handle.close()
      throw new LostFile(sha256)
    }
    const end = range ? Math.min(range.end + 1, size) : size
    return { body: new FileBody(handle, range?.start ?? 0, end), size }
  }
  return {
    async put(source, options = {}) {
      // A file that cannot be opened says so before it is read here; unheard, that would end the process.
      if (source instanceof Readable) source.on('error', () => {})
      const partial = join(temp, ownedName('file-'))
      try {
        const stored = await writePartial(partial, source, options)
        options.check?.(stored)
        await lasting.moveIn(partial, pathOf(stored.sha256))
        return stored
      } catch (error) {
        await rm(partial, { force: true })
        throw error
      }
    },
    sizeOf: (sha256) => sizeAt(pathOf(sha256)),
    open: openFile,
    async openOften(sha256, range) {
      const find = () => small.find(sha256, range?.start ?? 0, range && range.end + 1)
      const known = find()
      if (known) return known
      await orLost(sha256, small.load(sha256, pathOf(sha256)))
      return find() ?? (await openFile(sha256, range))
    },
    read: (sha256) => orLost(sha256, readFile(pathOf(sha256))),
    pathOf,
    async deleteOlder(sha256, before) {
      // Those that nothing names are looked for every day.
      if (deletions.isHeld) return false
      small.forget(sha256)
      return await deleteOlder(pathOf(sha256), temp, Date.parse(before))
    },
    listOlder: (before) => listOlder(root, Date.parse(before)),
  }
}

async function orLost<T>(sha256: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? new LostFile(sha256) : error
  }
}

/** Taken aside before it is looked at: bytes that are put again meanwhile are another file, and stay. */
async function deleteOlder(path: string, temp: string, before: number): Promise<boolean> {
  if (!(await isOlder(path, before))) return false
  const aside = join(temp, ownedName('file-'))
  try {
    await rename(path, aside)
  } catch {
    return false
  }
  if (!(await isOlder(aside, before))) {
    await rename(aside, path)
    return false
  }
  await rm(aside, { force: true })
  return true
}

async function isOlder(path: string, before: number): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && found.mtimeMs < before
}

async function* listOlder(root: string, before: number): AsyncGenerator<string> {
  for (const first of await namesIn(root, /^[0-9a-f]{2}$/)) {
    for (const second of await namesIn(join(root, first), /^[0-9a-f]{2}$/)) {
      const folder = join(root, first, second)
      for (const name of await namesIn(folder, /^[0-9a-f]{64}$/)) {
        if (await isOlder(join(folder, name), before)) yield name
      }
    }
  }
}

async function namesIn(folder: string, form: RegExp): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => form.test(name))
}

function filePath(root: string, sha256: string): string {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new TypeError('a file is named by its sha256')
  return join(root, sha256.slice(0, 2), sha256.slice(2, 4), sha256)
}

async function sizeAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch {
    return undefined
  }
}

async function writePartial(
  path: string,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: PutOptions,
): Promise<StoredFile> {
  const sha256 = createHash('sha256')
  const extra = new Map((options.digests ?? []).map((name) => [name, createHash(name)]))
  const maxSize = options.maxSize ?? Number.POSITIVE_INFINITY
  const file = await open(path, 'wx', 0o600)
  let size = 0
  const hashed = async function* () {
    let unflushed = 0
    let flushing = Promise.resolve()
    for await (const chunk of source) {
      size += chunk.byteLength
      if (size > maxSize) throw tooLarge()
      for (const one of [sha256, ...extra.values()]) one.update(chunk)
      yield chunk
      buffersPassed(chunk.byteLength)
      unflushed += chunk.byteLength
      if (unflushed < FLUSH_BYTES) continue
      unflushed = 0
      await flushing
      flushing = file.datasync()
      // It is awaited later, and may fail before.
      flushing.catch(() => undefined)
    }
    await flushing
  }
  // Chunks are hashed while earlier ones are written.
  const target = file.createWriteStream({ highWaterMark: AHEAD_BYTES, flush: true })
  await pipeline(hashed(), target)
  const digests = Object.fromEntries([...extra].map(([name, hash]) => [name, hash.digest('hex')]))
  return { sha256: sha256.digest('hex'), size, digests }
}

/** The folders of a store, whose own names must last through a power cut as those of the files in them do. */
class LastingFolders {
  readonly #root: string
  /** Folders whose names are known to be on the disk; that one is there says nothing of that. */
  readonly #known = new Set<string>()

  constructor(root: string) {
    this.#root = root
  }

  /** The rename replaces a file with the same bytes, so that its age shows when it was last wanted. */
  async moveIn(partial: string, target: string): Promise<void> {
    const folder = dirname(target)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await rename(partial, target)
    await syncFolder(folder)
    await this.#syncNameOf(folder)
    await this.#syncNameOf(dirname(folder))
  }

  async #syncNameOf(folder: string): Promise<void> {
    const name = relative(this.#root, folder)
    if (this.#known.has(name)) return
    await syncFolder(dirname(folder))
    this.#known.add(name)
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
