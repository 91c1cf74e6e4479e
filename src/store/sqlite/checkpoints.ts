import { closeSync, openSync } from 'node:fs'
import { runInWorker } from '../../base/workers/worker-pool.ts'
import { expectedFrames } from './wal.ts'

const everyMs = 100
/** New pages of the log from which on a copy is worth it: the more, the more often a page that changed often is copied once. */
const enough = 3000
/**
 * Pages from which on SQLite copies inside COMMIT after all, 32 MB of them. Only there does the log begin anew: a commit finds
 * everything copied, which it never does while others commit. By then a worker has copied nearly all of it.
 */
export const mostPages = 8000
const timeoutMs = 60_000

/**
 * Copies the write-ahead log into the database file while it grows, in a worker thread. SQLite would do so inside every
 * COMMIT that finds a thousand pages there, and each time stop all requests for as long as the disk takes, ten to fifty
 * milliseconds.
 */
export class Checkpoints {
  readonly #path: string
  readonly #timer: NodeJS.Timeout
  /** Kept open: SQLite's locks on this file go when any descriptor of the process is closed. */
  #index: number | undefined
  #running: Promise<void> | undefined
  /** Pages that were there when the last copy began. */
  #copied = 0

  constructor(path: string) {
    this.#path = path
    this.#timer = setInterval(() => this.#look(), everyMs).unref()
  }

  /** Resolves when nothing is being copied any more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
  }

  /** After the database was closed. */
  close(): void {
    if (this.#index !== undefined) closeSync(this.#index)
  }

  #look(): void {
    if (this.#running) return
    const frames = this.#frames()
    if (frames < this.#copied) this.#copied = 0
    if (frames - this.#copied < enough) return
    this.#copied = frames
    this.#running = this.#copy().finally(() => {
      this.#running = undefined
    })
  }

  #frames(): number {
    try {
      this.#index ??= openSync(`${this.#path}-shm`, 'r')
      return expectedFrames(this.#index)
    } catch {
      // No descriptor to spare, for example: COMMIT copies, as without us.
      return 0
    }
  }

  async #copy(): Promise<void> {
    const module = new URL('./checkpoint.ts', import.meta.url)
    const options = { module, name: 'checkpoint', timeoutMs, isLong: false }
    // What could not be copied stays in the log, for the next time or for a COMMIT.
    await runInWorker(this.#path, options).catch(() => {})
  }
}
