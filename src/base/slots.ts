interface Waiting {
  start(): void
}

export interface SlotOptions {
  /** How many run at once. */
  readonly limit: number
  /** How many may wait. */
  readonly queue: number
  /** How long they wait; as long as it takes unless told. */
  readonly patienceMs?: number
  /** What whoever finds the line full, or has waited too long, is refused with. */
  readonly busy: () => Error
  /** What ends the wait of a caller who goes away; the reason of the signal unless told. */
  readonly gone?: () => Error
}

/** How many of one kind of work run at once; the rest waits in line, and the line has an end. */
export class Slots {
  readonly #options: SlotOptions
  readonly #line = new Set<Waiting>()
  #busy = 0

  constructor(options: SlotOptions) {
    this.#options = options
  }

  /** Waits for a slot and gives the function that frees it. */
  async take(signal?: AbortSignal): Promise<() => void> {
    const { limit, queue, busy } = this.#options
    if (signal?.aborted) throw this.#goneBy(signal)
    if (this.#busy >= limit) {
      if (this.#line.size >= queue) throw busy()
      await this.#wait(signal)
    } else this.#busy++
    let held = true
    return () => {
      if (held) this.#release()
      held = false
    }
  }

  #goneBy(signal: AbortSignal | undefined): unknown {
    return this.#options.gone?.() ?? signal?.reason
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    const { patienceMs, busy } = this.#options
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#line.delete(waiting)
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
      }
      const refuse = (reason: unknown) => {
        leave()
        reject(reason)
      }
      const onAbort = () => refuse(this.#goneBy(signal))
      const timer =
        patienceMs === undefined ? undefined : setTimeout(() => refuse(busy()), patienceMs)
      const waiting: Waiting = {
        start() {
          leave()
          resolve()
        },
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#line.add(waiting)
    })
  }

  #release(): void {
    const [next] = this.#line
    // The slot goes to whoever is first in line, so nobody who comes now can take it.
    if (next) next.start()
    else this.#busy--
  }
}
