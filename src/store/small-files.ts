import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { bufferBytes, byteCache } from '../base/byte-cache.ts'
import { BytesBody } from '../base/streams/bytes-body.ts'

const CACHE_BYTES = 24 * 1024 * 1024
const LARGEST = 1024 * 1024
/** Files that are taken in at a time: while so many are, others come from the disk, in small pieces. */
const MOST_LOADING = 4

/**
 * Small files that were read lately, by their hashes. One that is asked for again needs neither the disk nor the steps of a
 * thread (open, size, read, close), each of which waits for its turn on a busy machine.
 */
export class SmallFiles {
  readonly #recent = byteCache<Buffer>(CACHE_BYTES, (bytes) => bufferBytes + bytes.length)
  readonly #loading = new Map<string, Promise<void>>()

  /** The bytes from `start` to before `end` of a file, if it is here. */
  find(sha256: string, start: number, end?: number): { body: BytesBody; size: number } | undefined {
    const known = this.#recent.get(sha256)
    const body = known && BytesBody.of(known.subarray(start, end))
    return known && body && { body, size: known.length }
  }

  /** Takes a file in if it is small, and what its name says; once, however many ask for it at that moment. */
  async load(sha256: string, path: string): Promise<void> {
    const running = this.#loading.get(sha256)
    if (running) return await running
    if (this.#loading.size >= MOST_LOADING) return
    const loading = this.#read(sha256, path).finally(() => this.#loading.delete(sha256))
    this.#loading.set(sha256, loading)
    await loading
  }

  async #read(sha256: string, path: string): Promise<void> {
    if ((await stat(path)).size > LARGEST) return
    const bytes = await readFile(path)
    if (createHash('sha256').update(bytes).digest('hex') === sha256) this.#recent.set(sha256, bytes)
  }

  forget(sha256: string): void {
    this.#recent.delete(sha256)
  }
}
