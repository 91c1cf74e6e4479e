import Database from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import { unavailable } from '../../base/problem.ts'

type Statement = Database.Statement<unknown[], Record<string, unknown>>

/** Statements that a handle keeps prepared: the busiest endpoints use some two hundred. */
const keptStatements = 500

/** One SQLite connection with its prepared statements. */
export class Handle {
  readonly database: Database.Database
  readonly #statements = new LRUCache<string, Statement>({ max: keptStatements })

  constructor(database: Database.Database) {
    this.database = database
  }

  /** The prepared statement of this SQL, kept by latest use. */
  prepare(sql: string): Statement {
    const known = this.#statements.get(sql)
    if (known) return known
    const statement = this.database.prepare<unknown[], Record<string, unknown>>(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  get kept(): number {
    return this.#statements.size
  }

  close(): void {
    this.#statements.clear()
    if (this.database.open) this.database.close()
  }
}

/** Values as SQLite takes them: booleans are 0 and 1, and a forgotten value is an error, never NULL. */
export function bind(parameters: readonly unknown[], sql: string): unknown[] {
  return parameters.map((value, index) => {
    if (typeof value === 'boolean') return value ? 1 : 0
    if (value === undefined) throw new TypeError(`parameter ${index + 1} is undefined in: ${sql}`)
    return value
  })
}

/** Whether another process holds the lock that this statement needs. */
export function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')
}

/** Does `act` again while another process holds the database, without ever blocking the event loop; 503 in the end. */
export async function whenFree<T>(timeoutMs: number, act: () => T): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (let pause = 2; ; pause = Math.min(pause * 2, 100)) {
    try {
      return act()
    } catch (error) {
      if (!isBusy(error)) throw error
      if (performance.now() > deadline) {
        throw unavailable('503 Service Unavailable - the database is busy', 5)
      }
    }
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}
