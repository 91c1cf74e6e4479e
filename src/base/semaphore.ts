export interface SemaphoreOptions {
  /** How many run at once. */
  readonly limit: number
  /** How many may wait; any number by default. */
  readonly maxWaiting?: number
  /** How long they wait; as long as it takes by default. */
  readonly timeoutMs?: number
  /** The error for whoever finds the queue full, or has waited too long. */
  readonly busy?: () => Error
  /** The error for a caller who goes away; the reason of the signal by default. */
  readonly aborted?: () => Error
}

/** Limits how much of one kind of work runs at once; the rest waits, first come first served. */
export class Semaphore {
  readonly #options: SemaphoreOptions
  /** What lets each of those start who wait. */
  readonly #queue = new Set<() => void>()
  #held = 0

  constructor(options: SemaphoreOptions) {
    this.#options = options
  }

  get isIdle(): boolean {
    return this.#held === 0
  }

  /** Waits for a permit and gives the function that releases it. */
  async acquire(signal?: AbortSignal): Promise<() => void> {
    const { limit, maxWaiting = Number.POSITIVE_INFINITY } = this.#options
    if (signal?.aborted) throw this.#abortError(signal)
    if (this.#held < limit) this.#held++
    else if (this.#queue.size < maxWaiting) await this.#wait(signal)
    else throw this.#busyError()
    let isHeld = true
    return () => {
      if (isHeld) this.#release()
      isHeld = false
    }
  }

  #abortError(signal: AbortSignal | undefined): unknown {
    return this.#options.aborted?.() ?? signal?.reason
  }

  #busyError(): Error {
    return this.#options.busy?.() ?? new Error('too many are waiting')
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    const { timeoutMs } = this.#options
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#queue.delete(start)
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
      }
      const refuse = (reason: unknown) => {
        leave()
        reject(reason)
      }
      const onAbort = () => refuse(this.#abortError(signal))
      const timer =
        timeoutMs === undefined ? undefined : setTimeout(() => refuse(this.#busyError()), timeoutMs)
      const start = () => {
        leave()
        resolve()
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#queue.add(start)
    })
  }

  #release(): void {
    const [startNext] = this.#queue
    // The permit goes to whoever is first in the queue, so nobody who comes now can take it.
    if (startNext) startNext()
    else this.#held--
  }
}

/** A semaphore for each key, which is forgotten when nobody holds it. */
export class KeyedSemaphore {
  readonly #options: SemaphoreOptions
  readonly #byKey = new Map<string, Semaphore>()

  constructor(options: SemaphoreOptions) {
    this.#options = options
  }

  /** Does the work with a permit of the key. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const semaphore = this.#byKey.get(key) ?? new Semaphore(this.#options)
    this.#byKey.set(key, semaphore)
    const release = await semaphore.acquire()
    try {
      return await work()
    } finally {
      release()
      if (semaphore.isIdle) this.#byKey.delete(key)
    }
  }
}
