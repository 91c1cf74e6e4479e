import type { Writable } from 'node:stream'
import { SendableBody, sending } from './sendable.ts'

/** What receivers hold at most, however slow they are: of bytes that a cache has dropped nobody else knows any more. */
const MOST_IN_USE = 64 * 1024 * 1024
let bytesInUse = 0

/** Bytes in memory as a stream. */
export class BytesBody extends SendableBody {
  readonly #bytes: Buffer

  /** Nothing when receivers hold too many bytes already. */
  static of(bytes: Buffer): BytesBody | undefined {
    return bytesInUse + bytes.length > MOST_IN_USE ? undefined : new BytesBody(bytes)
  }

  private constructor(bytes: Buffer) {
    super()
    this.#bytes = bytes
    bytesInUse += bytes.length
  }

  override _read(): void {
    this.push(this.#bytes)
    this.push(null)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    bytesInUse -= this.#bytes.length
    done(error)
  }

  override async sendTo(target: Writable): Promise<void> {
    try {
      if (this.#bytes.length > 0) await sending(target, (write) => write(this.#bytes))
    } finally {
      this.destroy()
    }
    target.end()
  }
}
