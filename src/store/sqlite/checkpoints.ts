import { runInWorker } from '../../base/workers/worker-pool.ts'

const everyMs = 1000
/**
 * Pages from which on SQLite copies inside COMMIT after all, 32 MB of them. Only there does the log begin anew: a commit finds
 * everything copied, which it never does while others commit. By then a worker has copied nearly all of it.
 */
export const mostPages = 8000
const timeoutMs = 60_000

/**
 * Copies the write-ahead log into the database file once a second while there are commits, in a worker thread. SQLite would do so
 * inside every COMMIT that finds a thousand pages there, and each time stop all requests for as long as the disk takes, ten to
 * fifty milliseconds.
 */
export class Checkpoints {
  readonly #path: string
  readonly #commits: () => number
  readonly #timer: NodeJS.Timeout
  #running: Promise<void> | undefined
  /** Commits that there were when the last copy began. */
  #copied = 0

  /** `commits` gives how many there were so far. */
  constructor(path: string, commits: () => number) {
    this.#path = path
    this.#commits = commits
    this.#timer = setInterval(() => this.#look(), everyMs).unref()
  }

  /** Resolves when nothing is being copied any more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
  }

  #look(): void {
    const commits = this.#commits()
    if (this.#running || commits === this.#copied) return
    this.#copied = commits
    this.#running = this.#copy().finally(() => {
      this.#running = undefined
    })
  }

  async #copy(): Promise<void> {
    const module = new URL('./checkpoint.ts', import.meta.url)
    const options = { module, name: 'checkpoint', timeoutMs, isLong: false }
    // What could not be copied stays in the log, for the next time or for a COMMIT.
    await runInWorker(this.#path, options).catch(() => {})
  }
}
