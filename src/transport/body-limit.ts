import { Transform, type TransformCallback } from 'node:stream'
import { GitError } from '../git/error.ts'

export interface BodyLimitOptions {
  /** Milliseconds without a byte after which a sender is given up. */
  readonly idleMs: number
  /** Bytes per second that a sender must reach on average once `graceMs` have passed. */
  readonly minRate: number
  readonly graceMs: number
  /** Bytes after which a sender is refused; 0 for no limit. */
  readonly maxBytes: number
}

/**
 * Passes a request body through and gives up a sender that hangs or trickles. Time during which we
 * ourselves hold the sender back does not count.
 */
export class BodyLimit extends Transform {
  readonly #options: BodyLimitOptions
  readonly #timer: NodeJS.Timeout
  #bytes = 0
  #waited = 0
  #idle = 0
  /** How long the silence may be that the sender is known to need now. */
  #expected = 0

  constructor(options: BodyLimitOptions) {
    super()
    this.#options = options
    const tick = Math.min(1000, options.idleMs / 4)
    this.#timer = setInterval(() => this.#check(tick), tick)
    this.#timer.unref()
  }

  /** Until its next byte the sender may be silent for this long, and is not called slow for it. */
  allowSilence(milliseconds: number): void {
    this.#expected = milliseconds
    this.#idle = 0
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#bytes += chunk.length
    this.#idle = 0
    this.#expected = 0
    const { maxBytes } = this.#options
    if (maxBytes > 0 && this.#bytes > maxBytes) {
      done(new GitError('too_large', 'the request is too large'))
    } else done(null, chunk)
  }

  override _flush(done: TransformCallback): void {
    clearInterval(this.#timer)
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearInterval(this.#timer)
    done(error)
  }

  #check(tick: number): void {
    if (this.readableLength > 0) return
    this.#idle += tick
    if (this.#idle <= this.#expected) return
    this.#waited += tick
    const slow = this.#bytes < (this.#waited / 1000) * this.#options.minRate
    if (this.#idle > this.#options.idleMs || (slow && this.#waited > this.#options.graceMs)) {
      this.destroy(new GitError('timeout', 'the client sends too slowly'))
    }
  }
}
