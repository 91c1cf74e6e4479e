import { type RunningGit, startGit } from '../command.ts'
import { GitError } from '../error.ts'
import type { ObjectId } from '../types.ts'

const newline = 0x0a
/** Smaller blobs are handed out in one piece. */
export const wholeUpTo = 1024 * 1024

/** A blob on its way: small ones as bytes, others as a stream that must be read to its end. */
export interface FedBlob {
  readonly size: number
  readonly body: Buffer | AsyncGenerator<Buffer>
}

/**
 * Reads blobs one after the other from one `git cat-file --batch`, which unpacks ahead in a process of
 * its own: as quick as reading in parallel here, and no more in memory than the pipe holds.
 */
export class BlobFeed {
  readonly #git: RunningGit
  readonly #chunks: AsyncIterator<Buffer>
  #ahead: Promise<IteratorResult<Buffer>> | undefined
  #rest: Buffer = Buffer.alloc(0)

  constructor(repo: string, ids: readonly ObjectId[], signal: AbortSignal) {
    const args = ['cat-file', '--batch', '--buffer']
    this.#git = startGit({ repo, args, stdin: `${ids.join('\n')}\n`, signal, timeout: 0 })
    this.#chunks = this.#git.stdout[Symbol.asyncIterator]()
    // Node throws away what a program said if it ends before anybody has begun to read.
    this.#ahead = this.#chunks.next()
    this.#ahead.catch(() => {})
  }

  /** The next blob, in the order of the ids. */
  async next(): Promise<FedBlob> {
    const line = await this.#line()
    const size = Number(/^[0-9a-f]+ blob (\d+)$/.exec(line)?.[1] ?? Number.NaN)
    if (Number.isNaN(size)) throw new GitError('failed', `unexpected object: ${line.slice(0, 100)}`)
    if (size > wholeUpTo) return { size, body: this.#stream(size) }
    const body = await this.#bytes(size)
    await this.#bytes(1)
    return { size, body }
  }

  /** Ends the program. */
  close(): void {
    this.#git.kill()
  }

  async #line(): Promise<string> {
    for (;;) {
      const end = this.#rest.indexOf(newline)
      if (end >= 0) {
        const line = this.#rest.toString('latin1', 0, end)
        this.#rest = this.#rest.subarray(end + 1)
        return line
      }
      this.#rest = Buffer.concat([this.#rest, await this.#chunk()])
    }
  }

  async #bytes(count: number): Promise<Buffer> {
    const pieces: Buffer[] = []
    for (let missing = count; missing > 0; ) {
      if (this.#rest.length === 0) this.#rest = await this.#chunk()
      const piece = this.#rest.subarray(0, missing)
      this.#rest = this.#rest.subarray(piece.length)
      missing -= piece.length
      pieces.push(piece)
    }
    const [only] = pieces
    return only && pieces.length === 1 ? only : Buffer.concat(pieces)
  }

  async *#stream(size: number): AsyncGenerator<Buffer> {
    for (let missing = size; missing > 0; ) {
      if (this.#rest.length === 0) this.#rest = await this.#chunk()
      const piece = this.#rest.subarray(0, missing)
      this.#rest = this.#rest.subarray(piece.length)
      missing -= piece.length
      yield piece
    }
    await this.#bytes(1)
  }

  async #chunk(): Promise<Buffer> {
    const next = this.#ahead ?? this.#chunks.next()
    this.#ahead = undefined
    const { done, value } = await next
    if (!done) return value
    await this.#git.done
    throw new GitError('failed', 'git cat-file ended early')
  }
}
