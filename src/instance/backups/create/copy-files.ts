import { type BigIntStats, statSync } from 'node:fs'
import type { ContentStore } from '../folder/content-store.ts'
import type { BackupFile } from '../folder/manifest.ts'

/** What is copied at a time: one is read while another is written. */
const atOnce = 3

export interface Source {
  /** Below the data folder, as it will be restored. */
  readonly path: string
  /** Where it lies now. */
  readonly source: string
  readonly stats?: BigIntStats | undefined
}

/** Brings files into a store, each file of the disk once, and those that are known from the last backup not at all. */
export class FileCopier {
  readonly #store: ContentStore
  readonly #known: ReadonlyMap<string, BackupFile>
  /** By device and number: forks have the same files as what they were made from. */
  readonly #sameFiles = new Map<string, { sha256: string; size: number }>()
  readonly #signal: AbortSignal
  newBytes = 0
  bytes = 0
  count = 0

  constructor(store: ContentStore, known: ReadonlyMap<string, BackupFile>, signal: AbortSignal) {
    this.#store = store
    this.#known = known
    this.#signal = signal
  }

  /** Throws ENOENT when one of them is gone. */
  async copyAll(sources: readonly Source[]): Promise<BackupFile[]> {
    const files: BackupFile[] = []
    let next = 0
    const work = async () => {
      for (let at = next++; at < sources.length; at = next++) {
        this.#signal.throwIfAborted()
        const source = sources[at]
        if (source) files[at] = await this.copy(source)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    return files
  }

  async copy({
    path,
    source,
    stats = statSync(source, { bigint: true }),
  }: Source): Promise<BackupFile> {
    const size = Number(stats.size)
    const mtime = String(stats.mtimeNs)
    const known = this.#known.get(path)
    const isUnchanged = known?.size === size && known.mtime === mtime
    const file = isUnchanged && this.#store.has(known.sha256, size) ? known : undefined
    if (file) return this.#count(file)
    const same = stats.nlink > 1n ? `${stats.dev}.${stats.ino}.${stats.mtimeNs}` : undefined
    const seen = same === undefined ? undefined : this.#sameFiles.get(same)
    if (seen) return this.#count({ path, mtime, ...seen })
    const { sha256, size: taken, isNew } = await this.#store.take(source)
    if (isNew) this.newBytes += taken
    if (same !== undefined) this.#sameFiles.set(same, { sha256, size: taken })
    return this.#count({ path, sha256, size: taken, mtime })
  }

  /** Takes over what was written in the folder of the backups. */
  async adopt(path: string, draft: string): Promise<BackupFile> {
    const { sha256, size, isNew } = await this.#store.adopt(draft)
    if (isNew) this.newBytes += size
    return this.#count({ path, sha256, size, mtime: '0' })
  }

  async copyBytes(path: string, bytes: string): Promise<BackupFile> {
    const { sha256, size, isNew } = await this.#store.takeBytes(bytes)
    if (isNew) this.newBytes += size
    return this.#count({ path, sha256, size, mtime: '0' })
  }

  #count(file: BackupFile): BackupFile {
    this.count += 1
    this.bytes += file.size
    return file
  }
}
