import type { Changes } from './changes.ts'
import type { Db } from './schema.ts'

const known = new WeakMap<object, Changes>()

/** Lets changes of a database be watched. */
export function offerWatching(db: Db, changes: Changes): void {
  known.set(db, changes)
}

/** Calls `listener` after each commit of this process that wrote the table; gives what ends it. */
export function watchTable(db: Db, table: string, listener: () => void): () => void {
  return known.get(db)?.watch(table, listener) ?? (() => {})
}
