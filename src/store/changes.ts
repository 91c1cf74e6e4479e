import type { Handle } from './sqlite/handle.ts'

/** A moment in the life of the database, to ask later whether it has changed since. */
export interface Moment {
  readonly own: number
  readonly foreign: unknown
}

/**
 * Whether anything was written to the database since a moment, by this process or another, and who is to be called when this
 * process writes a table. Noted when a transaction has been committed, before anybody else runs.
 */
export class Changes {
  readonly #writer: Handle
  #count = 0
  #version: unknown
  readonly #watchers = new Set<{ readonly table: string; readonly listener: () => void }>()
  #isAsked = false
  readonly #pause = () => {
    this.#isAsked = false
  }

  constructor(writer: Handle) {
    this.#writer = writer
  }

  /** Notes which tables the statements of a commit have named; undefined: perhaps any. */
  note(tables: ReadonlySet<string> | undefined): void {
    if (tables?.size === 0) return
    this.#count += 1
    for (const { table, listener } of this.#watchers) {
      if (tables === undefined || tables.has(table)) listener()
    }
  }

  /** Calls `listener` after each commit whose statements wrote the table by its name, or may have. */
  watch(table: string, listener: () => void): () => void {
    const watcher = { table, listener }
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  /** The commits of this process so far that have written something. */
  get count(): number {
    return this.#count
  }

  now(): Moment {
    return { own: this.#count, foreign: this.#foreign() }
  }

  /** Whether nothing was written since that moment. */
  isSame(moment: Moment): boolean {
    return moment.own === this.#count && moment.foreign === this.#foreign()
  }

  /**
   * Differs when another connection than the writer's, which is another process, has committed. Asked once for all
   * requests that one round of the event loop has found: they were there before it asked, so each sees all that was
   * committed before it came.
   */
  #foreign(): unknown {
    if (!this.#isAsked) {
      this.#version = this.#writer.prepare('PRAGMA data_version').get()?.data_version
      this.#isAsked = true
      setImmediate(this.#pause)
    }
    return this.#version
  }
}
