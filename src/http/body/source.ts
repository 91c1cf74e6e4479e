import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { badRequest, requestTimeout, tooLarge } from '../../base/problem.ts'

export interface SourceOptions {
  /** Milliseconds without a byte after which the sender is given up; time in which we read nothing does not count. */
  readonly idleMs: number
  /** Bytes after which the sender is refused. */
  readonly maxBytes: number
  /** What was read already, and whether that was all. */
  readonly head?: { readonly bytes: Buffer; readonly whole: boolean } | undefined
}

/**
 * The bytes of a request as a stream of our own. Unlike the request itself it may be destroyed at any time: the
 * connection stays, so that the answer can still be sent.
 */
export class BodySource extends Readable {
  readonly #request: IncomingMessage
  readonly #options: SourceOptions
  readonly #timer: NodeJS.Timeout | undefined
  #bytes = 0
  #idle = 0
  #ended = false

  constructor(request: IncomingMessage, options: SourceOptions) {
    super()
    this.#request = request
    this.#options = options
    const { head, idleMs } = options
    if (head) this.#take(head.bytes)
    if (head?.whole) {
      this.#end()
      return
    }
    request.on('data', this.#onData)
    request.on('end', this.#onEnd)
    request.on('error', this.#onGone)
    request.on('close', this.#onGone)
    request.pause()
    if (request.destroyed) this.#onGone()
    if (idleMs === 0) return
    const tick = Math.min(1000, idleMs / 4)
    this.#timer = setInterval(() => this.#check(tick), tick)
    this.#timer.unref()
  }

  /** Whether the request's last byte has come. */
  get ended(): boolean {
    return this.#ended
  }

  override _read(): void {
    if (!this.#ended) this.#request.resume()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#leave()
    done(error)
  }

  #onData = (chunk: Buffer): void => {
    this.#idle = 0
    if (!this.#take(chunk)) this.#request.pause()
  }

  #onEnd = (): void => this.#end()

  #onGone = (): void => {
    if (!this.#ended) this.destroy(badRequest('the connection was closed'))
  }

  /** False when the reader has enough for now. */
  #take(chunk: Buffer): boolean {
    this.#bytes += chunk.length
    if (this.#bytes <= this.#options.maxBytes) return chunk.length === 0 || this.push(chunk)
    this.destroy(tooLarge())
    return false
  }

  #end(): void {
    this.#ended = true
    this.#leave()
    this.push(null)
  }

  #leave(): void {
    clearInterval(this.#timer)
    const request = this.#request
    request.off('data', this.#onData)
    request.off('end', this.#onEnd)
    request.off('error', this.#onGone)
    request.off('close', this.#onGone)
    if (!this.#ended) request.pause()
  }

  #check(tick: number): void {
    if (this.#request.isPaused()) return
    this.#idle += tick
    if (this.#idle > this.#options.idleMs) this.destroy(requestTimeout())
  }
}
