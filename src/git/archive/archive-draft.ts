import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'

interface Draft {
  open(): Promise<FileHandle>
  /** Larger ones are not kept. */
  readonly limit: number
  /** Takes room for so many bytes more; false where there is none, and then it is not kept. */
  takeRoom(bytes: number): boolean
  /** Gives back the room of all of them: the file is closed. */
  giveBack(bytes: number): void
  /** It is whole: gives it its place. */
  finish(digest: string, size: number): Promise<void>
  /** Called once, whatever came of it. */
  end(): Promise<void>
}

const readSize = 256 * 1024

/**
 * An archive on its way to one reader. It is written to a file as fast as it is made, and read from there as fast as the
 * reader takes it, so that a slow one holds no program. What goes wrong with the file is none of the reader's business:
 * without one, or beyond the limit, the rest waits for the reader.
 */
export class ArchiveDraft extends Readable {
  readonly #draft: Draft
  readonly #source: Readable
  readonly #hash = createHash('sha256')
  readonly #opening: Promise<FileHandle | undefined>
  #file: FileHandle | undefined
  /** Bytes in the file, and how many of them were read. */
  #written = 0
  #at = 0
  /** What it has of the room of all drafts. */
  #room = 0
  #mayWrite = true
  #isEnded = false
  #isOver = false
  /** The reader wants more; while the file is read for it, it has to wait. */
  #isWanted = false
  #wake = () => {}

  constructor(draft: Draft, source: Readable) {
    super({ highWaterMark: readSize })
    this.#draft = draft
    this.#source = source
    // It may break before its reader listens, who then finds it broken.
    this.on('error', () => {})
    this.#opening = draft.open().catch(() => undefined)
    void this.#make()
  }

  override _read(): void {
    this.#isWanted = true
    this.#serve().catch((error: Error) => this.destroy(error))
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#source.destroy()
    this.#wake()
    this.#close().then(
      () => done(error),
      () => done(error),
    )
  }

  async #make(): Promise<void> {
    try {
      this.#file = await this.#opening
      this.#mayWrite = this.#file !== undefined
      for await (const chunk of this.#source as AsyncIterable<Buffer>) {
        const isInStep = this.#isWanted && this.#at === this.#written
        if (!(await this.#write(chunk))) await this.#hand(chunk)
        else if (isInStep) {
          this.#at += chunk.length
          this.#give(chunk)
        } else await this.#serve()
        if (this.destroyed) return
      }
      await this.#finish()
      this.#isOver = true
      await this.#serve()
    } catch (error) {
      this.destroy(error instanceof Error ? error : undefined)
    }
  }

  /** False for what is not in the file. */
  async #write(chunk: Buffer): Promise<boolean> {
    const file = this.#file
    if (!this.#mayWrite || !file) return false
    const isTooLarge = this.#written + chunk.length > this.#draft.limit
    if (isTooLarge || !this.#draft.takeRoom(chunk.length)) return this.#stopWriting()
    this.#room += chunk.length
    this.#hash.update(chunk)
    try {
      for (let at = 0; at < chunk.length; ) {
        const place = this.#written + at
        at += (await file.write(chunk, at, chunk.length - at, place)).bytesWritten
      }
    } catch {
      // The disk is full, for instance.
      return this.#stopWriting()
    }
    this.#written += chunk.length
    return true
  }

  /** What was written before is still to be read. */
  async #stopWriting(): Promise<false> {
    this.#mayWrite = false
    await this.#end()
    return false
  }

  /** Gives a piece to the reader once it has read the file and wants more. */
  async #hand(chunk: Buffer): Promise<void> {
    while (!this.destroyed && !(this.#isWanted && this.#at === this.#written)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    if (!this.destroyed) this.#give(chunk)
  }

  #give(chunk: Buffer | null): void {
    this.#isWanted = false
    this.push(chunk)
  }

  /** Gives the reader what it wants, as far as it is there. */
  async #serve(): Promise<void> {
    if (!this.#isWanted || this.destroyed) return
    const left = this.#written - this.#at
    if (left === 0) {
      if (this.#isOver) this.#give(null)
      else this.#wake()
      return
    }
    if (!this.#file) return
    this.#isWanted = false
    const buffer = Buffer.allocUnsafeSlow(Math.min(readSize, left))
    const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, this.#at)
    if (bytesRead === 0) throw new Error('the file is shorter than it was')
    this.#at += bytesRead
    if (!this.destroyed) this.push(buffer.subarray(0, bytesRead))
  }

  /** It has its place before the reader sees the end. */
  async #finish(): Promise<void> {
    if (!this.#mayWrite || this.destroyed) return
    // Where that fails the next one makes it anew.
    await this.#draft.finish(this.#hash.digest('hex'), this.#written).catch(() => {})
    await this.#end()
  }

  async #end(): Promise<void> {
    if (this.#isEnded) return
    this.#isEnded = true
    await this.#draft.end().catch(() => {})
  }

  async #close(): Promise<void> {
    this.#mayWrite = false
    this.#file = undefined
    const file = await this.#opening
    await file?.close().catch(() => {})
    this.#draft.giveBack(this.#room)
    this.#room = 0
    await this.#end()
  }
}
