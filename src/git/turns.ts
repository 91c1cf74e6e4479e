/** Milliseconds that one job may keep its thread before others get a turn. */
const slice = 3

/** Lets the other jobs of a process work in between: a long loop awaits `share()` at every step. */
export class Turns {
  #started = performance.now()

  /** Resolves at once, or after the others had their turn when this job worked long enough. */
  async share(): Promise<void> {
    if (performance.now() - this.#started < slice) return
    await new Promise(setImmediate)
    this.#started = performance.now()
  }
}
