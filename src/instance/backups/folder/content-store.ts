import { createHash } from 'node:crypto'
import {
  constants,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ownedName } from '../../../base/process-mark.ts'
import { sha256Of } from './manifest.ts'

/** Smaller files are copied and read at once, which takes less than handing the work to threads. */
const smallBytes = 256 * 1024
const pieceBytes = 1024 * 1024

export interface Taken {
  readonly sha256: string
  readonly size: number
  readonly isNew: boolean
}

/**
 * The bytes of all backups in a folder by their SHA-256, each once. What is copied in is read back under a temporary name,
 * and gets its own last.
 */
export class ContentStore {
  readonly #root: string
  readonly #temporary: string
  /** What whole backups name: it is on the disk, and was read back. */
  readonly #trusted: ReadonlySet<string>
  readonly #folders = new Set<string>()
  readonly #taken = new Set<string>()

  constructor(folder: string, trusted: ReadonlySet<string> = new Set()) {
    this.#root = join(folder, 'store')
    this.#temporary = join(folder, 'tmp')
    this.#trusted = trusted
  }

  pathOf(sha256: string): string {
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw new TypeError('a file is named by its sha256')
    return join(this.#root, sha256.slice(0, 2), sha256)
  }

  /** Whether it is there and trusted, with this size. */
  has(sha256: string, size: number): boolean {
    if (!this.#trusted.has(sha256) && !this.#taken.has(sha256)) return false
    return statSync(this.pathOf(sha256), { throwIfNoEntry: false })?.size === size
  }

  /** Copies a file in. */
  async take(source: string): Promise<Taken> {
    if (statSync(source).size <= smallBytes) return await this.takeBytes(readFileSync(source))
    const draft = this.#draft()
    try {
      await copyFile(source, draft, constants.COPYFILE_FICLONE)
      return await this.#place(draft)
    } catch (error) {
      rmSync(draft, { force: true })
      throw error
    }
  }

  /** Takes a file over that lies in the folder for what is not finished. */
  adopt(draft: string): Promise<Taken> {
    return this.#place(draft)
  }

  async takeBytes(bytes: string | Uint8Array): Promise<Taken> {
    const size = Buffer.byteLength(bytes)
    const sha256 = sha256Of(bytes)
    if (this.has(sha256, size)) return { sha256, size, isNew: false }
    const draft = this.#draft()
    try {
      writeFileSync(draft, bytes)
      return await this.#place(draft)
    } catch (error) {
      rmSync(draft, { force: true })
      throw error
    }
  }

  /** Removes what none of these names; gives the bytes. Only while nobody copies anything in. */
  async sweep(named: ReadonlySet<string>): Promise<number> {
    let freed = 0
    for (const shard of await readdir(this.#root).catch(() => [])) {
      for (const name of await readdir(join(this.#root, shard)).catch(() => [])) {
        if (named.has(name)) continue
        const path = join(this.#root, shard, name)
        freed += (await stat(path).catch(() => undefined))?.size ?? 0
        await rm(path, { force: true })
      }
    }
    return freed
  }

  #draft(): string {
    return join(this.#temporary, ownedName('part-'))
  }

  async #place(draft: string): Promise<Taken> {
    const { sha256, size } = await hashFile(draft)
    if (this.has(sha256, size)) {
      rmSync(draft, { force: true })
      return { sha256, size, isNew: false }
    }
    const path = this.pathOf(sha256)
    const folder = dirname(path)
    if (!this.#folders.has(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#folders.add(folder)
    renameSync(draft, path)
    this.#taken.add(sha256)
    return { sha256, size, isNew: !this.#trusted.has(sha256) }
  }
}

/** The SHA-256 and size of a file. */
export async function hashFile(path: string): Promise<{ sha256: string; size: number }> {
  const { size } = statSync(path)
  if (size <= smallBytes) {
    const bytes = readFileSync(path)
    return { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length }
  }
  const hash = createHash('sha256')
  const file = await open(path, 'r')
  let read = 0
  try {
    // The next piece is read while one is hashed.
    const buffers = [Buffer.allocUnsafe(pieceBytes), Buffer.allocUnsafe(pieceBytes)] as const
    let [current, other] = buffers
    let pending = file.read(current, 0, pieceBytes)
    for (;;) {
      const { bytesRead } = await pending
      if (bytesRead === 0) break
      pending = file.read(other, 0, pieceBytes)
      hash.update(current.subarray(0, bytesRead))
      read += bytesRead
      const full = current
      current = other
      other = full
    }
  } finally {
    await file.close()
  }
  return { sha256: hash.digest('hex'), size: read }
}

/** Copies a file out of a store and reads back what was written; gives its SHA-256. */
export async function copyOut(source: string, target: string, mode: number): Promise<string> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  const draft = `${ownedName(`${target}.`)}.part`
  await copyFile(source, draft, constants.COPYFILE_FICLONE)
  const { sha256 } = await hashFile(draft)
  const file = await open(draft, 'r+')
  await file.chmod(mode)
  await file.close()
  await rename(draft, target)
  return sha256
}
