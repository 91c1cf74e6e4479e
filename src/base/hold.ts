/** Something that may not be done for a while, as long as anybody wants that. */
export class Hold {
  #count = 0
  #free: PromiseWithResolvers<void> | undefined

  get isHeld(): boolean {
    return this.#count > 0
  }

  /** Holds it, until the function that is given back is called. */
  take(): () => void {
    this.#count += 1
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      this.#count -= 1
      if (this.#count > 0) return
      this.#free?.resolve()
      this.#free = undefined
    }
  }

  /** Resolves when nobody holds it. */
  async whenFree(): Promise<void> {
    while (this.isHeld) {
      this.#free ??= withResolvers()
      await this.#free.promise
    }
  }
}

interface PromiseWithResolvers<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
}

/** Node 20 has no `Promise.withResolvers`. */
function withResolvers(): PromiseWithResolvers<void> {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
