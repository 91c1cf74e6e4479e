import type { Database } from 'better-sqlite3'

/** One step of the schema, run in one transaction. */
export interface Migration {
  /** `NNNN-name`, as its file is called. */
  readonly name: string
  readonly sql: string
  /** What SQL alone can't do, run after `sql` in the same transaction. */
  readonly run?: (database: Database) => void
}
