import type { Db } from './schema.ts'

/** A way to the database that notes which tables are read through it. */
export interface Recording {
  readonly db: Db
  /** The tables read so far; undefined once something was done that is no plain read. */
  tables(): ReadonlySet<string> | undefined
  /** Says that something else was looked at, too. */
  spoil(): void
}

/** The notes of one recording, as the driver takes them. */
export class ReadNotes {
  #tables: Set<string> | undefined = new Set()

  get tables(): ReadonlySet<string> | undefined {
    return this.#tables
  }

  add(tables: ReadonlySet<string> | undefined): void {
    if (tables === undefined) this.spoil()
    else for (const table of tables) this.#tables?.add(table)
  }

  spoil(): void {
    this.#tables = undefined
  }
}
