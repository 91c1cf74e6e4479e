import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { ownedName } from '../../base/process-mark.ts'
import { FileBody } from '../../base/streams/file-body.ts'
import type { Repo } from '../repo.ts'
import type { ArchiveInput } from './archive.ts'
import { ArchiveDraft } from './archive-draft.ts'

/** Bytes `start` to `end`, both included. */
interface Range {
  readonly start: number
  readonly end: number
}

/** A finished archive on disk. It is open, and stays whole when the cache removes it: read it, or close it. */
export interface CachedArchive {
  /** SHA-256 of its bytes, in hex. */
  readonly digest: string
  readonly size: number
  read(range?: Range): FileBody
  close(): Promise<void>
}

interface Entry {
  readonly file: string
  readonly digest: string
  readonly size: number
  /** What was written before this process is read once before it is trusted. */
  isChecked: boolean
}

/** One archive takes at most this part of the cache. */
const largestPart = 4
const readAtOnce = 256 * 1024
const named = /^([0-9a-f]{64})-([0-9a-f]{64})$/

/**
 * Finished archives, so that a release that thousands download is packed once. The files lie in one folder for each
 * repository, each under what was asked for and the digest of its bytes; what was used longest ago goes first. It
 * belongs to the server that holds the data folder.
 */
export class ArchiveCache {
  readonly #folder: string
  readonly #limit: number | undefined
  /** In the order of their last use. */
  readonly #entries = new Map<string, Entry>()
  #size = 0
  /** Bytes of files that are being written, or are read by those for whom they were made. */
  #drafted = 0
  #loaded: Promise<void> | undefined

  /** `limit` is in bytes; 0 keeps nothing, and without one the folder is another process's. */
  constructor(folder: string, limit: number | undefined) {
    this.#folder = folder
    this.#limit = limit
  }

  /** The archive that was asked for, when it is whole on disk. */
  async find(repo: Repo, input: ArchiveInput): Promise<CachedArchive | undefined> {
    if (this.#limit === undefined) return undefined
    await this.#load()
    const key = keyOf(repo, input)
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    const { digest, size } = entry
    const handle = await openUnlessGone(entry.file)
    if (!handle || !(await isWhole(entry, handle))) {
      await handle?.close()
      await this.#drop(key)
      return undefined
    }
    // Again at the end: it was used last. The time is for the next process.
    if (this.#entries.delete(key)) this.#entries.set(key, entry)
    const used = Date.now() / 1000
    await handle.utimes(used, used).catch(() => {})
    return {
      digest,
      size,
      read: (range) => new FileBody(handle, range?.start ?? 0, range ? range.end + 1 : size),
      close: () => handle.close(),
    }
  }

  /** The archive as it comes, which is written ahead of its reader and kept when it has come to its end. */
  async keep(repo: Repo, input: ArchiveInput, archive: Readable): Promise<Readable> {
    if (!this.#limit) return archive
    await this.#load()
    const key = keyOf(repo, input)
    const limit = this.#limit
    const folder = join(this.#folder, repo.key)
    const path = join(folder, ownedName('tmp-'))
    const draft = {
      open: async () => {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        return open(path, 'wx+', 0o600)
      },
      limit: Math.floor(limit / largestPart),
      takeRoom: (bytes: number) => {
        if (this.#drafted + bytes > limit) return false
        this.#drafted += bytes
        return true
      },
      giveBack: (bytes: number) => {
        this.#drafted -= bytes
      },
      finish: async (digest: string, size: number) => {
        // One copy is enough, whoever else asked at the same time.
        if (this.#entries.has(key)) return
        const file = join(folder, `${key}-${digest}`)
        await rename(path, file)
        await this.#add(key, { file, digest, size, isChecked: true })
      },
      end: () => rm(path, { force: true }),
    }
    return new ArchiveDraft(draft, archive)
  }

  /** Removes what is kept of a repository. */
  async forget(repositoryKey: string): Promise<void> {
    const folder = join(this.#folder, repositoryKey)
    if (this.#limit !== undefined) await this.#load()
    for (const [key, { file }] of this.#entries) {
      if (file.startsWith(`${folder}/`)) await this.#drop(key)
    }
    await rm(folder, { recursive: true, force: true })
  }

  async #add(key: string, entry: Entry): Promise<void> {
    // Another may have been made at the same time, under the same name.
    this.#size += entry.size - (this.#entries.get(key)?.size ?? 0)
    this.#entries.set(key, entry)
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= (this.#limit ?? 0)) return
      await this.#drop(oldest)
    }
  }

  async #drop(key: string): Promise<void> {
    const entry = this.#entries.get(key)
    if (!entry || !this.#entries.delete(key)) return
    this.#size -= entry.size
    // Who reads it at the moment reads it to its end.
    await rm(entry.file, { force: true })
  }

  #load(): Promise<void> {
    this.#loaded ??= this.#read()
    return this.#loaded
  }

  /** Finds what an earlier process has kept, and removes what it left half written. */
  async #read(): Promise<void> {
    const found: { key: string; entry: Entry; used: number }[] = []
    const all = await readdir(this.#folder, { recursive: true, withFileTypes: true }).catch(
      () => [],
    )
    for (const one of all.filter((each) => each.isFile())) {
      const file = join(one.parentPath, one.name)
      const [, key, digest] = named.exec(one.name) ?? []
      const stats = await stat(file).catch(() => undefined)
      if (key === undefined || digest === undefined || !stats) await rm(file, { force: true })
      else {
        const entry = { file, digest, size: stats.size, isChecked: false }
        found.push({ key, entry, used: stats.mtimeMs })
      }
    }
    for (const { key, entry } of found.sort((a, b) => a.used - b.used)) await this.#add(key, entry)
  }
}

/** Everything that the bytes depend on; the ids of large files stand for their content. */
function keyOf(
  repo: Repo,
  { commitId, format, name, path, excludePaths, lfs }: ArchiveInput,
): string {
  const large = lfs ? [...lfs.keys()].sort() : []
  const asked = [repo.key, commitId, format, name, path ?? '', excludePaths ?? [], large]
  return createHash('sha256').update(JSON.stringify(asked)).digest('hex')
}

/** Undefined when there is no such file. Where no more files may be open, the archive is no worse for it. */
function openUnlessGone(file: string): Promise<FileHandle | undefined> {
  return open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}

/** Whether the file is as it was written: a power cut or a failing disk may have changed it. */
async function isWhole(entry: Entry, handle: FileHandle): Promise<boolean> {
  const stats = await handle.stat().catch(() => undefined)
  if (stats?.size !== entry.size) return false
  if (entry.isChecked) return true
  const hash = createHash('sha256')
  const options = { start: 0, autoClose: false, highWaterMark: readAtOnce }
  try {
    for await (const chunk of handle.createReadStream(options)) hash.update(chunk as Buffer)
  } catch {
    return false
  }
  entry.isChecked = hash.digest('hex') === entry.digest
  return entry.isChecked
}
