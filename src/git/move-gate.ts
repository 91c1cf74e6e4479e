/** The repositories in which refs have moved since somebody began to watch. */
export interface MoveWatch {
  moved(): readonly string[]
  stop(): void
}

/**
 * Where whoever moves refs passes by, from before a ref moves until that is recorded. A backup closes it for a moment, so
 * that refs and database can be looked at while they agree.
 */
export class MoveGate {
  readonly #moving = new Map<string, number>()
  readonly #watches = new Set<Set<string>>()
  #closed: Promise<void> | undefined
  #onIdle: (() => void) | undefined

  /** Waits while the gate is closed; whoever moves refs of the repository calls what is given back when that is recorded. */
  async enter(key: string): Promise<() => void> {
    while (this.#closed) await this.#closed
    this.note(key)
    this.#moving.set(key, (this.#moving.get(key) ?? 0) + 1)
    let isIn = true
    return () => {
      if (isIn) this.#leave(key)
      isIn = false
    }
  }

  /** Moves refs of a repository while the gate is open. */
  async run<T>(key: string, move: () => Promise<T>): Promise<T> {
    const leave = await this.enter(key)
    try {
      return await move()
    } finally {
      leave()
    }
  }

  /** Lets those know who watch that something changes beside the refs. */
  note(key: string): void {
    for (const moved of this.#watches) moved.add(key)
  }

  watch(): MoveWatch {
    const moved = new Set(this.#moving.keys())
    this.#watches.add(moved)
    return {
      moved: () => [...moved],
      stop: () => {
        this.#watches.delete(moved)
      },
    }
  }

  /**
   * Closes the gate, waits for those who are moving refs, but no longer than `patienceMs`, and gives what opens it again.
   * A move that takes longer is open in the journal, by which the next start finalizes it.
   */
  async close(patienceMs: number): Promise<() => void> {
    while (this.#closed) await this.#closed
    let open = () => {}
    this.#closed = new Promise((resolve) => {
      open = () => {
        this.#closed = undefined
        resolve()
      }
    })
    if (this.#moving.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, patienceMs)
        this.#onIdle = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      this.#onIdle = undefined
    }
    return open
  }

  #leave(key: string): void {
    const count = this.#moving.get(key) ?? 0
    if (count > 1) this.#moving.set(key, count - 1)
    else this.#moving.delete(key)
    if (this.#moving.size === 0) this.#onIdle?.()
  }
}
