import { closeSync, openSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { damageOf, expectedFrames } from './wal.ts'

/**
 * Makes up for a flush of the write-ahead log that failed, on a full disk for example. The kernel may have dropped the
 * pages that it could not write, and counts them as written: to flush again would say nothing. What the log holds as we
 * read it is therefore checked, frame by frame, then copied into the database file and brought onto the disk there; the log
 * begins anew. Until that has worked no commit counts as done.
 */
export class LogMender {
  readonly #path: string
  readonly #writer: Database
  /** Kept open: SQLite's locks on these files go when any descriptor of the process is closed. */
  #files: { readonly index: number; readonly log: number } | undefined

  constructor(path: string, writer: Database) {
    this.#path = path
    this.#writer = writer
  }

  /** Whether everything that was committed is on the disk now. */
  mend(): boolean {
    // Somebody's transaction is open: the next who waits for a flush comes here again.
    if (!this.#writer.open || this.#writer.inTransaction) return false
    try {
      this.#files ??= {
        index: openSync(`${this.#path}-shm`, 'r'),
        log: openSync(`${this.#path}-wal`, 'r'),
      }
      if (damageOf(this.#files.log, expectedFrames(this.#files.index)) !== undefined) return false
      const [result] = this.#writer.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
      return result?.busy === 0
    } catch {
      // There is still no room.
      return false
    }
  }

  /** After the database was closed. */
  close(): void {
    if (!this.#files) return
    closeSync(this.#files.index)
    closeSync(this.#files.log)
  }
}
