/** The repositories in which refs have moved since somebody began to watch. */
export interface MoveWatch {
  moved(): readonly string[]
  stop(): void
}

/**
 * Counts the moves of refs, each from before a ref moves until that is recorded. A backup pauses them for a moment, so that
 * it reads refs and database while they agree.
 */
export class RefMoves {
  readonly #moving = new Map<string, number>()
  readonly #watches = new Set<Set<string>>()
  #paused: Promise<void> | undefined
  #onIdle: (() => void) | undefined

  /** Begins a move, after a pause if there is one. The caller ends it by the returned function when it is recorded. */
  async begin(key: string): Promise<() => void> {
    while (this.#paused) await this.#paused
    this.note(key)
    this.#moving.set(key, (this.#moving.get(key) ?? 0) + 1)
    let isOpen = true
    return () => {
      if (isOpen) this.#end(key)
      isOpen = false
    }
  }

  /** Moves refs of a repository, as one move. */
  async run<T>(key: string, move: () => Promise<T>): Promise<T> {
    const end = await this.begin(key)
    try {
      return await move()
    } finally {
      end()
    }
  }

  /** Adds to all watches a repository in which something beside the refs changes. */
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
   * Lets no further move begin and waits for those that have begun, but no longer than `timeoutMs`. Moves go on when the
   * caller calls the returned function. A move that takes longer is open in the journal, and the next start finalizes it.
   */
  async pause(timeoutMs: number): Promise<() => void> {
    while (this.#paused) await this.#paused
    let resume = () => {}
    this.#paused = new Promise((resolve) => {
      resume = () => {
        this.#paused = undefined
        resolve()
      }
    })
    if (this.#moving.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs)
        this.#onIdle = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      this.#onIdle = undefined
    }
    return resume
  }

  #end(key: string): void {
    const count = this.#moving.get(key) ?? 0
    if (count > 1) this.#moving.set(key, count - 1)
    else this.#moving.delete(key)
    if (this.#moving.size === 0) this.#onIdle?.()
  }
}
