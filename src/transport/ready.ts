/** A program that was started before it is needed. */
export interface Startable {
  /** Resolves when it is gone. */
  readonly closed: Promise<unknown>
  stop(): void
}

interface Waiting<Program> {
  readonly program: Program
  readonly timer: NodeJS.Timeout
}

const mostWaiting = 8
const timeoutMs = 5000

/**
 * Git processes started a moment before they are needed: a client that asks for the refs in order to
 * push sends its push next, and takes about as long to prepare it as a process takes to start.
 */
export class ReadyPrograms<Program extends Startable> {
  readonly #waiting = new Map<string, Waiting<Program>>()

  /** Starts one, unless one waits already or too many do. */
  prepare(key: string, start: () => Program): void {
    if (this.#waiting.has(key) || this.#waiting.size >= mostWaiting) return
    const program = tryTo(start)
    if (!program) return
    const timer = setTimeout(() => this.drop(key), timeoutMs)
    timer.unref()
    this.#waiting.set(key, { program, timer })
    // One that could not start, or was ended by somebody, is of no use.
    const forget = () => {
      if (this.#waiting.get(key)?.program === program) this.drop(key)
    }
    program.closed.then(forget, forget)
  }

  /** One that waits, or a new one. */
  take(key: string, start: () => Program): Program {
    return this.#remove(key) ?? start()
  }

  /** Ends one that waits in vain. */
  drop(key: string): void {
    this.#remove(key)?.stop()
  }

  /** Ends those that wait. */
  stop(): void {
    for (const key of this.#waiting.keys()) this.drop(key)
  }

  #remove(key: string): Program | undefined {
    const found = this.#waiting.get(key)
    if (found) clearTimeout(found.timer)
    this.#waiting.delete(key)
    return found?.program
  }
}

/** Nobody waits for it yet: without room for it now, it is started when it is needed. */
function tryTo<Program>(start: () => Program): Program | undefined {
  try {
    return start()
  } catch {
    return undefined
  }
}
