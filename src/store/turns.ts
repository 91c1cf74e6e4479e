/** One holder at a time, first come first served. A wait that lasts too long throws instead of hanging. */
export class Turns {
  #held = false
  #waiting: (() => void)[] = []
  readonly #patienceMs: number

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Resolves when it is the caller's turn, who then calls `give` exactly once. */
  take(): Promise<void> {
    if (!this.#held) {
      this.#held = true
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const start = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((other) => other !== start)
        reject(
          new Error(
            `waited ${this.#patienceMs} ms to write: is a query on the outer db made inside a transaction?`,
          ),
        )
      }, this.#patienceMs)
      this.#waiting.push(start)
    })
  }

  give(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#held = false
  }
}
