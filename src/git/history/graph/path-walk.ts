import { Timeslice } from '../../../base/timeslice.ts'
import type { OpenRepository } from '../../engine/open-repository.ts'
import { GitError } from '../../error.ts'
import { type BloomKeys, bloomKeys } from './bloom.ts'
import type { History } from './history.ts'
import type { WalkOptions } from './ordered-walk.ts'
import { PathReader } from './path-reader.ts'
import { CommitQueue } from './queue.ts'

/**
 * The commits that changed a path, as `git log -- path` lists them: newest first, and at a merge only
 * the first parent with the same content is followed. No hidden commits (ranges).
 */
export class PathWalk {
  readonly #history: History
  readonly #options: WalkOptions
  readonly #queue = new CommitQueue()
  readonly #seen: Uint8Array
  readonly #reader: PathReader
  readonly #keys: BloomKeys | undefined
  readonly #list: number[] = []
  #finished = false
  /** Callers share one walk; each step waits for the one before. */
  #reading: Promise<unknown> = Promise.resolve()

  constructor(repository: OpenRepository, history: History, options: WalkOptions, path: string) {
    this.#history = history
    this.#options = options
    this.#seen = new Uint8Array(history.size)
    this.#reader = new PathReader(repository, history, path)
    this.#keys = bloomKeys(path)
    for (const tip of options.tips) this.#enter(tip)
  }

  /** The first commits of the list, `count` of them or all there are. */
  first(count: number, signal: AbortSignal): Promise<readonly number[]> {
    const reading = this.#reading.then(() => this.#extend(count, signal))
    // Its failure is its caller's alone.
    this.#reading = reading.catch(() => {})
    return reading.then(() => this.#list.slice(0, count))
  }

  async #extend(count: number, signal: AbortSignal): Promise<void> {
    const slice = new Timeslice(3)
    while (!this.#finished && this.#list.length < count) {
      const position = this.#queue.pop()
      if (position < 0) {
        this.#finished = true
        this.#reader.forget()
        return
      }
      const { since } = this.#options
      if (since !== undefined && this.#history.dateOf(position) < since) continue
      if (signal.aborted) {
        // Put back, so that the walk stays whole for the next caller.
        this.#queue.push(position, this.#history.dateOf(position))
        throw new GitError('timeout', 'the caller went away')
      }
      if (slice.isOver()) await slice.yield()
      const isUnchanged = this.#unchanged(position)
      if (!isUnchanged && (await this.#changed(position))) this.#list.push(position)
    }
  }

  /** Follows the first parent without looking at trees where the filter says that nothing changed. */
  #unchanged(position: number): boolean {
    const parent = this.#history.parent(position, 0)
    if (parent < 0 || this.#history.mayHaveChanged(position, this.#keys)) return false
    this.#enter(parent)
    return true
  }

  /** Whether the commit differs from all its parents; follows those that git follows. */
  async #changed(position: number): Promise<boolean> {
    const state = await this.#reader.state(position)
    let parent = this.#history.parent(position, 0)
    if (parent < 0) return state !== ''
    const parents: number[] = []
    for (let n = 1; parent >= 0; n += 1) {
      if ((await this.#reader.state(parent)) === state) {
        this.#enter(parent)
        return false
      }
      parents.push(parent)
      parent = this.#options.firstParent ? -1 : this.#history.parent(position, n)
    }
    for (const each of parents) this.#enter(each)
    return true
  }

  #enter(position: number): void {
    if (this.#seen[position]) return
    this.#seen[position] = 1
    this.#queue.push(position, this.#history.dateOf(position))
  }
}
