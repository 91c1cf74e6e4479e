import type { Database } from 'better-sqlite3'

/** One step of the schema, run in one transaction. */
export interface Migration {
  /** `NNNN-name`, as its file is called. */
  readonly name: string
  readonly sql: string
  /** What SQL alone can't do, run after `sql` in the same transaction. */
  readonly run?: (database: Database) => void
  /** The steps that made the same schema before this one was written: a database that has run them all needs it no more. */
  readonly replaces?: readonly string[]
}

/** The names of all steps that a database of this program may have run. */
export function knownSteps(steps: readonly Migration[]): string[] {
  return steps.flatMap(({ name, replaces = [] }) => [...replaces, name])
}
