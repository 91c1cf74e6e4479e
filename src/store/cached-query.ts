import type { Changes, Moment } from './changes.ts'
import type { Db } from './schema.ts'

/** Results of the requests since the last write; far more than a hundred callers need. */
const mostResults = 5000

interface Results {
  readonly changes: Changes
  moment: Moment
  readonly byKey: Map<string, unknown>
}

const known = new WeakMap<object, Results>()

/** Lets the queries of a database be cached. */
export function cacheQueries(db: Db, changes: Changes): void {
  known.set(db, { changes, moment: changes.now(), byKey: new Map() })
}

/**
 * The result of a query that nearly every request makes (who is behind a token, which project a path means), kept until
 * anything is written to the database, by this process or another. Inside a transaction it is always asked. The result is
 * shared: nobody may change it.
 */
export async function cachedQuery<T>(db: Db, key: string, ask: (db: Db) => Promise<T>): Promise<T> {
  const results = known.get(db)
  if (!results) return ask(db)
  const { changes, byKey } = results
  if (!changes.isSame(results.moment) || byKey.size >= mostResults) {
    byKey.clear()
    results.moment = changes.now()
  }
  // Only `ask` of the same key stored it, so the type is the asker's.
  if (byKey.has(key)) return byKey.get(key) as T
  const { moment } = results
  const result = await ask(db)
  // What was written meanwhile may be in it or not.
  if (results.moment === moment && changes.isSame(moment)) byKey.set(key, result)
  return result
}
