import type { Readable } from 'node:stream'
import { Semaphore } from '../../base/semaphore.ts'
import { GitError } from '../error.ts'
import type { Repo } from '../repo.ts'

/** The part of such programs that one caller may have. */
const share = 0.5

/** Git programs that live for as long as a reader takes their output: so many at a time, and a share for each caller. */
export class ReaderPrograms {
  readonly #running: Semaphore

  constructor(limit: number, maxWaiting: number) {
    this.#running = new Semaphore({
      limit,
      maxWaiting,
      share,
      busy: () => new GitError('busy', 'too many repository requests are waiting'),
      aborted: () => new GitError('timeout', 'the caller went away'),
    })
  }

  /** Starts one when it is its turn; its place is free again when the stream is closed. */
  async start(
    { caller }: Repo,
    start: () => Readable | Promise<Readable>,
    signal?: AbortSignal,
  ): Promise<Readable> {
    const release = await this.#running.acquire(signal, caller)
    try {
      const body = await start()
      body.once('close', release)
      if (body.closed) release()
      return body
    } catch (error) {
      release()
      throw error
    }
  }
}

/** Of large files, patches and diffs: many, since each streams and takes little memory, and readers may be slow. */
export const downloads = new ReaderPrograms(64, 256)
