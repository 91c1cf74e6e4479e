/**
 * Work that never waits for anything outside would keep the event loop from turning: a loop of many steps asks
 * `isOver()` at each of them, and when it is, awaits `yield()`.
 */
export class Timeslice {
  readonly #ms: number
  #since: number | undefined

  constructor(ms: number) {
    this.#ms = ms
  }

  /** Whether the thread was busy for too long since the event loop last turned. */
  isOver(): boolean {
    const now = performance.now()
    if (this.#since === undefined) {
      this.#since = now
      setImmediate(() => {
        this.#since = undefined
      })
    }
    return now - this.#since > this.#ms
  }

  yield(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve))
  }
}
