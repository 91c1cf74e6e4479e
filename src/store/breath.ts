/** How long queries may follow one another before others get a turn. */
const longestMs = 10

/**
 * SQLite answers at once, so that a loop of awaited queries would run to its end before the event loop turned. This
 * notices such a loop and lets the others in.
 */
export class Breath {
  #since: number | undefined

  /** Whether queries have run for too long since the event loop last turned. */
  isDue(): boolean {
    const now = performance.now()
    if (this.#since === undefined) {
      this.#since = now
      setImmediate(() => {
        this.#since = undefined
      })
    }
    return now - this.#since > longestMs
  }

  take(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve))
  }
}
