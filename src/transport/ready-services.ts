import { type GitService, type ServiceCommand, startService } from './git-process.ts'

interface Waiting {
  readonly key: string
  readonly git: GitService
  readonly timer: NodeJS.Timeout
}

const mostWaiting = 8
const patienceMs = 5000

/**
 * Git processes started a moment before they are needed: a client that asks for the refs in order to
 * push sends its push next, and takes about as long to prepare it as a process takes to start.
 * Until it is given something to read such a process knows its repository's settings and no more.
 */
export class ReadyServices {
  readonly #waiting = new Map<string, Waiting>()

  /** Starts one, unless one waits already or too many do. */
  prepare(command: ServiceCommand): void {
    const key = keyOf(command)
    if (this.#waiting.has(key) || this.#waiting.size >= mostWaiting) return
    const git = tryToStart(command)
    if (!git) return
    const timer = setTimeout(() => this.#remove(key)?.git.stop(), patienceMs)
    timer.unref()
    this.#waiting.set(key, { key, git, timer })
    // One that could not start, or was ended by somebody, is of no use.
    const forget = () => {
      if (this.#waiting.get(key)?.git === git) this.#remove(key)
    }
    git.closed.then(forget, forget)
  }

  /** One that waits, or a new one. */
  take(command: ServiceCommand): GitService {
    return this.#remove(keyOf(command))?.git ?? startService(command)
  }

  /** Ends those that wait. */
  stop(): void {
    for (const key of this.#waiting.keys()) this.#remove(key)?.git.stop()
  }

  #remove(key: string): Waiting | undefined {
    const found = this.#waiting.get(key)
    if (found) clearTimeout(found.timer)
    this.#waiting.delete(key)
    return found
  }
}

/** Nobody waits for it yet: without room for it now, it is started when it is needed. */
function tryToStart(command: ServiceCommand): GitService | undefined {
  try {
    return startService(command)
  } catch {
    return undefined
  }
}

function keyOf(command: ServiceCommand): string {
  const { service, repo, options, protocol, config, env } = command
  return JSON.stringify([service, repo.path, options, protocol, config, env])
}
