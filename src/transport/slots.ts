import { unavailable } from '../base/problem.ts'

interface Waiting {
  start(): void
}

/** How many of one kind of work run at once; the rest waits in line, and the line has an end. */
export class Slots {
  readonly #limit: number
  readonly #queue: number
  readonly #patience: number
  readonly #line = new Set<Waiting>()
  #busy = 0

  constructor(options: { limit: number; queue: number; patienceMs: number }) {
    this.#limit = options.limit
    this.#queue = options.queue
    this.#patience = options.patienceMs
  }

  /**
   * Waits for a slot and gives the function that frees it. 503 with `Retry-After` when the line is
   * full or the wait too long.
   */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#busy >= this.#limit) {
      if (this.#line.size >= this.#queue) throw busy()
      await this.#wait(signal)
    } else this.#busy++
    let held = true
    return () => {
      if (held) this.#release()
      held = false
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (reason: unknown) => {
        this.#line.delete(waiting)
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
        if (reason === undefined) resolve()
        else reject(reason)
      }
      const onAbort = () => leave(signal.reason)
      const timer = setTimeout(() => leave(busy()), this.#patience)
      const waiting: Waiting = { start: () => leave(undefined) }
      signal.addEventListener('abort', onAbort, { once: true })
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

function busy() {
  return unavailable('The server is busy with other transfers. Try again in a few seconds.', 5)
}
