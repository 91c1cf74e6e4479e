import type { ReadCache } from './read-cache.ts'
import type { Db } from './schema.ts'

/** What a result is taken to hold: mostly a row, or none. */
const resultBytes = 1000

const caches = new WeakMap<object, ReadCache>()

/** Lets the queries of a database be cached. */
export function cacheQueries(db: Db, cache: ReadCache): void {
  caches.set(db, cache)
}

/**
 * The result of a query that nearly every request makes (who is behind a token, which project a path means), from the
 * cache while it holds. `ask` reads by the database that it is given. Inside a transaction it is always asked. The result
 * is shared: nobody may change it.
 */
export async function cachedQuery<T>(db: Db, key: string, ask: (db: Db) => Promise<T>): Promise<T> {
  const cache = caches.get(db)
  if (!cache) return ask(db)
  const name = `query ${key}`
  // Only `ask` of the same key stored it, so the type is the asker's.
  const known = cache.find(name) as { readonly result: T } | undefined
  if (known) return known.result
  const reading = cache.begin()
  const result = await ask(reading.db)
  reading.keep(name, { result }, resultBytes)
  return result
}
