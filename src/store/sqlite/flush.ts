import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'

const sync = promisify(fdatasync)
const soonMs = 50

/**
 * Brings what was committed onto the disk. SQLite itself would do so inside COMMIT, where every one stops this thread
 * for as long as the disk takes. Here a thread of the pool does it, and commits that came meanwhile share the next
 * time: many writers wait for few flushes. Whoever awaits `done` has what `synchronous=FULL` promises. After a flush that failed
 * none succeeds any more: the kernel may have dropped what it could not write, and would say nothing the next time.
 */
export class Flush {
  readonly #path: string
  readonly #failed: (error: unknown) => void
  #fd: number | undefined
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #broken: unknown
  #timer: NodeJS.Timeout | undefined

  /**
   * `path` is the write-ahead log, which stays the same file for as long as the database is open; `failed` is called with the
   * first error of the disk.
   */
  constructor(path: string, failed: (error: unknown) => void) {
    this.#path = path
    this.#failed = failed
  }

  /** Resolves when everything that was committed before the call is on the disk. */
  done(): Promise<void> {
    if (this.#running === undefined) return this.#start()
    // The one that runs may have begun before the commit.
    this.#next ??= this.#running.then(
      () => this.#startNext(),
      () => this.#startNext(),
    )
    return this.#next
  }

  /** Brings what was committed onto the disk within moments, with the next flush that anybody waits for if one comes. */
  soon(): void {
    // Should it fail, every flush after it fails for the same reason.
    this.#timer ??= setTimeout(() => this.done().catch(() => {}), soonMs)
    this.#timer.unref()
  }

  close(): void {
    clearTimeout(this.#timer)
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }

  #startNext(): Promise<void> {
    this.#next = undefined
    return this.#start()
  }

  #start(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const running = this.#flush().finally(() => {
      if (this.#running === running) this.#running = undefined
    })
    this.#running = running
    return running
  }

  async #flush(): Promise<void> {
    // Without a descriptor to spare nothing was tried, and nothing is lost.
    this.#fd ??= openSync(this.#path, 'r')
    if (this.#broken !== undefined) throw this.#broken
    try {
      await sync(this.#fd)
    } catch (error) {
      this.#broken = error
      this.#failed(error)
      throw error
    }
  }
}
