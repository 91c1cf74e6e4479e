import type { FileHandle } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { SendableBody, sending } from './sendable.ts'

const CHUNK_BYTES = 64 * 1024
/** What `sendTo` reads at once, and how many of such buffers there are at most: beyond them it reads small chunks. */
const BUFFER_BYTES = 1024 * 1024
const MOST_BUFFERS = 16

const buffers: Buffer[] = []
let buffersInUse = 0

/**
 * The bytes of a file from `start` to before `end`, as a stream that closes the file. `sendTo` is the quick way to one
 * receiver: it reads into buffers that are used again, where a stream allocates each chunk anew.
 */
export class FileBody extends SendableBody {
  readonly #file: FileHandle
  readonly #end: number
  #at: number

  constructor(file: FileHandle, start: number, end: number) {
    super({ highWaterMark: CHUNK_BYTES })
    this.#file = file
    this.#at = start
    this.#end = end
  }

  override _read(): void {
    const left = Math.max(0, this.#end - this.#at)
    const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, left))
    this.#fill(chunk).then(
      (bytes) => this.push(bytes === 0 ? null : chunk.subarray(0, bytes)),
      (error: unknown) => this.destroy(error as Error), // the file system throws nothing else
    )
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#file.close().then(
      () => done(error),
      (problem: Error) => done(error ?? problem),
    )
  }

  override async sendTo(target: Writable): Promise<void> {
    const buffer = takeBuffer()
    const chunk = buffer ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
    try {
      await sending(target, async (write) => {
        for (let size = await this.#fill(chunk); size > 0; size = await this.#fill(chunk)) {
          await write(chunk.subarray(0, size))
        }
      })
      giveBack(buffer)
    } catch (error) {
      // The receiver may still hold the buffer: the garbage collector takes it.
      if (buffer) buffersInUse -= 1
      throw error
    } finally {
      this.destroy()
    }
    target.end()
  }

  /** Reads into a buffer; 0 at the end. */
  async #fill(chunk: Buffer): Promise<number> {
    const most = Math.min(chunk.length, this.#end - this.#at)
    if (most <= 0) return 0
    const { bytesRead } = await this.#file.read(chunk, 0, most, this.#at)
    if (bytesRead === 0) throw new Error('the file is shorter than it was')
    this.#at += bytesRead
    return bytesRead
  }
}

function takeBuffer(): Buffer | undefined {
  if (buffersInUse >= MOST_BUFFERS) return undefined
  buffersInUse += 1
  return buffers.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES)
}

function giveBack(buffer: Buffer | undefined): void {
  if (!buffer) return
  buffersInUse -= 1
  buffers.push(buffer)
}
