import { GitError } from './error.ts'

/** Lets so many work at a time; the others wait in a line, which has an end. */
export class Line {
  readonly #atOnce: number
  readonly #mayWait: number
  readonly #waiting = new Set<() => void>()
  #working = 0

  constructor(atOnce: number, mayWait: number) {
    this.#atOnce = atOnce
    this.#mayWait = mayWait
  }

  /**
   * Resolves when it is the caller's turn, with what ends it. `busy` when too many wait already, `timeout` when the
   * caller goes away.
   */
  async enter(signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) throw new GitError('timeout', 'the caller went away')
    if (this.#working < this.#atOnce) this.#working += 1
    else await this.#turn(signal)
    let left = false
    return () => {
      if (!left) this.#leave()
      left = true
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.size >= this.#mayWait) {
      throw new GitError('busy', 'too many repository requests are waiting')
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.delete(start)
        reject(new GitError('timeout', 'the caller went away'))
      }
      const start = () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#waiting.add(start)
    })
  }

  /** The place goes to who has waited longest. */
  #leave(): void {
    const [next] = this.#waiting
    if (!next) {
      this.#working -= 1
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
