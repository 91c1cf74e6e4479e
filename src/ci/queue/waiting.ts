import { randomBytes } from 'node:crypto'
import type { Db } from '../../store/schema.ts'
import { watchTable } from '../../store/watch.ts'

/** The queue of one database as those see it who wait for it to change. */
class Queue {
  readonly #start = randomBytes(6).toString('hex')
  #count = 0
  readonly #waiting = new Set<() => void>()

  constructor(db: Db) {
    watchTable(db, 'ci_pending_jobs', () => this.#changed())
  }

  #changed(): void {
    this.#count += 1
    for (const wake of this.#waiting) wake()
  }

  /** What a runner gives back to say that it has seen the queue as it is. */
  get version(): string {
    return `${this.#start}-${this.#count}`
  }

  /**
   * Waits until the queue is no longer of this version, at most so long, or until the caller is gone. False when there
   * was nothing to wait for.
   */
  async change(version: string, milliseconds: number, signal: AbortSignal): Promise<boolean> {
    if (version !== this.version || signal.aborted || milliseconds <= 0) return false
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, milliseconds)
      timer.unref()
      signal.addEventListener('abort', done)
      this.#waiting.add(done)
    })
    return true
  }
}

const queues = new WeakMap<object, Queue>()

/** The queue of a database; nothing about it outlives the process. */
export function queueOf(db: Db): Queue {
  const known = queues.get(db)
  if (known) return known
  const queue = new Queue(db)
  queues.set(db, queue)
  return queue
}
