import type { LRUCache } from 'lru-cache'
import { byteCache } from '../base/byte-cache.ts'
import type { Changes, Moment } from './changes.ts'
import type { Db } from './schema.ts'

/** The tables that a value was read from, as the driver notes them; undefined once something else was done. */
export class ReadNotes {
  #tables: Set<string> | undefined = new Set()

  get tables(): ReadonlySet<string> | undefined {
    return this.#tables
  }

  add(tables: ReadonlySet<string>): void {
    for (const table of tables) this.#tables?.add(table)
  }

  spoil(): void {
    this.#tables = undefined
  }
}

/** A value that is being computed from what `db` reads. */
export interface Reading {
  readonly db: Db
  readonly tables: ReadonlySet<string> | undefined
  /** Says that something else than tables was looked at, whose changes nobody reports. */
  spoil(): void
  /** Caches the value, of so many bytes, unless it was made of more than tables or is out of date already. */
  keep(key: string, value: NonNullable<unknown>, bytes: number): void
}

interface Entry {
  readonly value: NonNullable<unknown>
  readonly bytes: number
  readonly tables: ReadonlySet<string>
  readonly moment: Moment
}

/**
 * Values computed from the database: results of queries and whole responses. Why one is never out of date:
 * 1. While it is computed, the tables of all its queries are noted, from their syntax trees.
 * 2. Each table has the number of the last commit of this process that changed it, be it by a trigger or a foreign key.
 * 3. The value holds while none of its tables has a later number than when its computing began.
 * 4. When another process has committed, which SQLite's `data_version` shows, no value holds any more.
 * 5. Values that came of writes, transactions, raw streams, files or repositories are not cached.
 */
export class ReadCache {
  readonly #changes: Changes
  readonly #noting: (notes: ReadNotes) => Db
  readonly #entries: LRUCache<string, Entry>

  constructor(changes: Changes, noting: (notes: ReadNotes) => Db, maxBytes = 17 * 1024 * 1024) {
    this.#changes = changes
    this.#noting = noting
    this.#entries = byteCache(maxBytes, (entry) => entry.bytes, maxBytes / 8)
  }

  get bytes(): number {
    return this.#entries.calculatedSize
  }

  /** The value of a key while it holds. */
  find(key: string): NonNullable<unknown> | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    if (this.#changes.isSame(entry.moment, entry.tables)) return entry.value
    this.#entries.delete(key)
    return undefined
  }

  /** Begins to compute a value, before the first read: what is written meanwhile may be in it or not. */
  begin(): Reading {
    const notes = new ReadNotes()
    const moment = this.#changes.now()
    return {
      db: this.#noting(notes),
      get tables() {
        return notes.tables
      },
      spoil: () => notes.spoil(),
      keep: (key, value, bytes) => {
        const { tables } = notes
        if (!tables?.size || !this.#changes.isSame(moment, tables)) return
        this.#entries.set(key, { value, bytes, tables, moment })
      },
    }
  }
}
