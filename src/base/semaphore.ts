export interface SemaphoreOptions {
  /** How many run at once. */
  readonly limit: number
  /** How many may wait; any number by default. */
  readonly maxWaiting?: number
  /** The part of both that one caller may have, such as 0.5, and at least one; all of it by default. */
  readonly share?: number
  /** How long they wait; as long as it takes by default. */
  readonly timeoutMs?: number
  /** The error for whoever finds the queue full, or has waited too long. */
  readonly busy?: () => Error
  /** The error for a caller who goes away; the reason of the signal by default. */
  readonly aborted?: () => Error
}

interface Waiting {
  readonly caller: string | undefined
  readonly start: () => void
}

/** The number that one caller may have of so many. */
export function shareOf(limit: number, share: number): number {
  return Math.max(1, Math.floor(limit * share))
}

/**
 * Limits how much of one kind of work runs at once; the rest waits. First come, first served, but where callers are
 * named none has more than its share, and of those that wait the one with the least goes first.
 */
export class Semaphore {
  readonly #options: SemaphoreOptions
  readonly #queue = new Set<Waiting>()
  /** By caller, for those that are named. */
  readonly #heldBy = new Map<string, number>()
  #held = 0

  constructor(options: SemaphoreOptions) {
    this.#options = options
  }

  get isIdle(): boolean {
    return this.#held === 0
  }

  /** Waits for a permit and gives the function that releases it. Without `caller` there is no share to keep to. */
  async acquire(signal?: AbortSignal, caller?: string): Promise<() => void> {
    if (signal?.aborted) throw this.#abortError(signal)
    if (this.#held < this.#options.limit && this.#mayHold(caller)) this.#hold(caller)
    else if (this.#mayWait(caller)) await this.#wait(signal, caller)
    else throw this.#busyError()
    let isHeld = true
    return () => {
      if (isHeld) this.#release(caller)
      isHeld = false
    }
  }

  #abortError(signal: AbortSignal | undefined): unknown {
    return this.#options.aborted?.() ?? signal?.reason
  }

  #busyError(): Error {
    return this.#options.busy?.() ?? new Error('too many are waiting')
  }

  #heldOf(caller: string | undefined): number {
    return caller === undefined ? 0 : (this.#heldBy.get(caller) ?? 0)
  }

  #mayHold(caller: string | undefined): boolean {
    const { limit, share } = this.#options
    return share === undefined || this.#heldOf(caller) < shareOf(limit, share)
  }

  #mayWait(caller: string | undefined): boolean {
    const { maxWaiting = Number.POSITIVE_INFINITY, share } = this.#options
    if (this.#queue.size >= maxWaiting) return false
    if (caller === undefined || share === undefined) return true
    const most = shareOf(maxWaiting, share)
    // Nobody can have more of the queue than there is in it.
    if (this.#queue.size < most) return true
    return [...this.#queue].filter((one) => one.caller === caller).length < most
  }

  #hold(caller: string | undefined): void {
    this.#held++
    if (caller !== undefined) this.#heldBy.set(caller, this.#heldOf(caller) + 1)
  }

  #wait(signal: AbortSignal | undefined, caller: string | undefined): Promise<void> {
    const { timeoutMs } = this.#options
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#queue.delete(waiting)
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
      const waiting: Waiting = {
        caller,
        start: () => {
          leave()
          this.#hold(caller)
          resolve()
        },
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#queue.add(waiting)
    })
  }

  #release(caller: string | undefined): void {
    this.#held--
    if (caller !== undefined) {
      const left = this.#heldOf(caller) - 1
      if (left > 0) this.#heldBy.set(caller, left)
      else this.#heldBy.delete(caller)
    }
    // The permit goes to whoever is next in the queue, so nobody who comes now can take it.
    this.#next()?.start()
  }

  #next(): Waiting | undefined {
    if (this.#options.share === undefined) {
      const [first] = this.#queue
      return first
    }
    let next: Waiting | undefined
    for (const one of this.#queue) {
      if (!this.#mayHold(one.caller)) continue
      if (next && this.#heldOf(one.caller) >= this.#heldOf(next.caller)) continue
      next = one
    }
    return next
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
  async run<T>(key: string, work: () => Promise<T>, caller?: string): Promise<T> {
    const semaphore = this.#byKey.get(key) ?? new Semaphore(this.#options)
    this.#byKey.set(key, semaphore)
    const release = await semaphore.acquire(undefined, caller)
    try {
      return await work()
    } finally {
      release()
      if (semaphore.isIdle) this.#byKey.delete(key)
    }
  }
}
