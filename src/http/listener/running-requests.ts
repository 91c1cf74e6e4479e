import type { IncomingMessage, ServerResponse } from 'node:http'

/** A request that is being answered, as the log names it. */
export interface RunningRequest {
  readonly request_id: string
  readonly method: string
  readonly path: string
  readonly seconds: number
}

interface Begun {
  readonly method: string
  readonly path: string
  readonly at: number
}

/** So many are named in the log. */
const mostNamed = 20

/** The requests that are being answered: which of them a fault belongs to that nobody has caught. */
export class RunningRequests {
  readonly #running = new Map<ServerResponse, Begun>()

  /** From now until the response ends or is cut off. */
  add(request: IncomingMessage, response: ServerResponse): void {
    // Express takes the mount point away from the path later.
    const path = (request.url ?? '').split('?', 1)[0] ?? ''
    this.#running.set(response, { method: request.method ?? '', path, at: performance.now() })
    response.once('close', () => this.#running.delete(response))
  }

  /** Those that began last, the newest first. */
  list(): RunningRequest[] {
    const newest = [...this.#running].reverse().slice(0, mostNamed)
    return newest.map(([response, { method, path, at }]) => ({
      request_id: String(response.getHeader('X-Request-Id') ?? ''),
      method,
      path,
      seconds: (performance.now() - at) / 1000,
    }))
  }
}
