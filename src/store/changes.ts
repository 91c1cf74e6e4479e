import type { Handle } from './sqlite/handle.ts'

/** A moment in the life of the database, to ask later what has changed since. */
export interface Moment {
  readonly own: number
  readonly foreign: unknown
}

/**
 * Which tables this process has changed, and whether any other process has changed anything: what was read from tables
 * that have not changed since is still right. Noted when a transaction has been committed, before anybody else runs.
 */
export class Changes {
  readonly #writer: Handle
  readonly #latest = new Map<string, number>()
  #count = 0
  /** The latest change of which it is not known what it changed. */
  #latestOfAll = 0
  #version: unknown
  readonly #watchers = new Set<{ readonly table: string; readonly listener: () => void }>()
  #isAsked = false
  readonly #pause = () => {
    this.#isAsked = false
  }

  constructor(writer: Handle) {
    this.#writer = writer
  }

  /** Notes what a commit has changed; undefined: anything. */
  note(tables: ReadonlySet<string> | undefined): void {
    if (tables?.size === 0) return
    this.#count += 1
    if (tables === undefined) this.#latestOfAll = this.#count
    else for (const table of tables) this.#latest.set(table, this.#count)
    this.#notify(tables)
  }

  /** Calls `listener` after each commit that wrote the table, or of which it is not known what it wrote. */
  watch(table: string, listener: () => void): () => void {
    const watcher = { table, listener }
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  #notify(tables: ReadonlySet<string> | undefined): void {
    for (const { table, listener } of this.#watchers) {
      if (tables === undefined || tables.has(table)) listener()
    }
  }

  now(): Moment {
    return { own: this.#count, foreign: this.#foreign() }
  }

  /** Whether these tables are what they were at that moment. */
  isSame(moment: Moment, tables: Iterable<string>): boolean {
    if (this.#latestOfAll > moment.own || moment.foreign !== this.#foreign()) return false
    for (const table of tables) {
      if ((this.#latest.get(table) ?? 0) > moment.own) return false
    }
    return true
  }

  /**
   * Differs when another connection than the writer's, which is another process, has committed. Asked once for all
   * requests that one round of the event loop has found: they were there before it asked, so each hears of all that was
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
