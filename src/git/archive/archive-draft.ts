import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { pipeline, type Readable, Transform } from 'node:stream'

interface Draft {
  open(): Promise<FileHandle>
  /** Larger ones are not kept. */
  readonly limit: number
  /** It is whole: gives it its place. */
  finish(digest: string, size: number): Promise<void>
  /** Called once, whatever came of it. */
  end(): Promise<void>
}

/** Writes a stream to a file while it goes on to its reader. What goes wrong with the file is none of the reader's business. */
export class ArchiveDraft {
  readonly #draft: Draft
  readonly #hash = createHash('sha256')
  #file: FileHandle | undefined
  #size = 0
  #isGiven = false

  constructor(draft: Draft) {
    this.#draft = draft
  }

  async follow(source: Readable): Promise<Readable> {
    try {
      this.#file = await this.#draft.open()
    } catch {
      await this.#end()
      return source
    }
    const copy = new Transform({
      highWaterMark: 256 * 1024,
      transform: (chunk: Buffer, _encoding, done) => {
        this.#write(chunk).then(() => done(null, chunk), done)
      },
      // It has its place before the reader hears of the end.
      flush: (done) => {
        this.#finish().then(() => done(), done)
      },
      destroy: (error, done) => {
        this.#end().then(
          () => done(error),
          () => done(error),
        )
      },
    })
    pipeline(source, copy, () => {})
    return copy
  }

  async #write(chunk: Buffer): Promise<void> {
    if (!this.#file) return
    this.#size += chunk.length
    if (this.#size > this.#draft.limit) return this.#end()
    this.#hash.update(chunk)
    try {
      for (let at = 0; at < chunk.length; ) {
        at += (await this.#file.write(chunk, at)).bytesWritten
      }
    } catch {
      // The disk is full, for instance.
      await this.#end()
    }
  }

  async #finish(): Promise<void> {
    const file = this.#file
    if (!file) return
    try {
      this.#file = undefined
      await file.close()
      await this.#draft.finish(this.#hash.digest('hex'), this.#size)
    } catch {
      // Then the next one makes it anew.
    } finally {
      await this.#end()
    }
  }

  async #end(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close().catch(() => {})
    if (this.#isGiven) return
    this.#isGiven = true
    await this.#draft.end().catch(() => {})
  }
}
