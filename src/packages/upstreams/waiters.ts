/** Those who wait for a file that is on its way. */
export class Waiters {
  readonly #aloneMs: number
  readonly #leaving = new Map<AbortSignal, () => void>()
  #count = 0
  #timer: NodeJS.Timeout | undefined
  #giveUp: (() => void) | undefined

  /** `aloneMs` is how long the file may still come in when nobody waits for it any more. */
  constructor(aloneMs: number) {
    this.#aloneMs = aloneMs
  }

  /** What to do when nobody has waited for too long. */
  whenAlone(giveUp: () => void): void {
    this.#giveUp = giveUp
    this.#look()
  }

  /** Somebody waits until the signal is raised; without one, to the end. */
  add(signal: AbortSignal | undefined): void {
    if (signal && (signal.aborted || this.#leaving.has(signal))) return
    this.#count += 1
    if (signal) {
      const leave = () => {
        this.#leaving.delete(signal)
        this.#count -= 1
        this.#look()
      }
      this.#leaving.set(signal, leave)
      signal.addEventListener('abort', leave, { once: true })
    }
    this.#look()
  }

  /** The file is here, or will not come. */
  end(): void {
    clearTimeout(this.#timer)
    this.#giveUp = undefined
    for (const [signal, leave] of this.#leaving) signal.removeEventListener('abort', leave)
    this.#leaving.clear()
  }

  #look(): void {
    clearTimeout(this.#timer)
    const giveUp = this.#giveUp
    if (this.#count === 0 && giveUp) this.#timer = setTimeout(giveUp, this.#aloneMs).unref()
  }
}
