import { randomBytes } from 'node:crypto'
import type { Db } from '../../store/schema.ts'
import { watchTable } from '../../store/watch.ts'

/** What decides, beside the jobs that wait, which runner may have which of them: all that `listCandidates` reads. */
const DECIDING = [
  'ci_runners',
  'ci_runner_projects',
  'projects',
  'namespaces',
  'namespace_ancestors',
] as const
/** These change often, and seldom so that it matters here: several changes wake those who wait once. */
const TOGETHER_MS = 1000

interface Ends {
  /** Raised when the runner is gone. */
  readonly signal: AbortSignal
  /** Raised when the server is about to stop. */
  readonly stopping: AbortSignal
}

/** The queue of one database as those see it who wait for it to change. */
class Queue {
  readonly #start = randomBytes(6).toString('hex')
  /** Changes of the jobs that wait, and of what decides who may have them. */
  #jobs = 0
  #rules = 0
  #waking: NodeJS.Timeout | undefined
  readonly #waiting = new Set<() => void>()

  constructor(db: Db) {
    watchTable(db, 'ci_pending_jobs', () => this.#changed())
    for (const table of DECIDING) watchTable(db, table, () => this.changeSoon(TOGETHER_MS))
  }

  #changed(): void {
    this.#jobs += 1
    this.#wake()
  }

  #wake(): void {
    clearTimeout(this.#waking)
    this.#waking = undefined
    for (const wake of this.#waiting) wake()
  }

  /** Another look may find a job from now on; those who wait take it within so many milliseconds. */
  changeSoon(milliseconds: number): void {
    this.#rules += 1
    this.#waking ??= setTimeout(() => this.#wake(), milliseconds).unref()
  }

  /** What a runner gives back to say that it has seen the queue as it is. */
  get version(): string {
    return `${this.#start}-${this.#jobs}-${this.#rules}`
  }

  /** Whether the same jobs wait as in that version, whoever may have them by now. */
  hasJobsOf(version: string): boolean {
    return version.startsWith(`${this.#start}-${this.#jobs}-`)
  }

  /**
   * Waits until the queue is no longer of this version, at most so long, or until the caller is gone or the server stops.
   */
  async change(version: string, milliseconds: number, ends: Ends): Promise<void> {
    const signals = [ends.signal, ends.stopping]
    const isOver = milliseconds <= 0 || signals.some(({ aborted }) => aborted)
    if (isOver || version !== this.version) return
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        for (const signal of signals) signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, milliseconds)
      timer.unref()
      for (const signal of signals) signal.addEventListener('abort', done)
      this.#waiting.add(done)
    })
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
