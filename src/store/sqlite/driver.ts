import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
} from 'kysely'
import { Semaphore } from '../../base/semaphore.ts'
import { Timeslice } from '../../base/timeslice.ts'
import type { Changes } from '../changes.ts'
import type { Flush } from './flush.ts'
import { bind, type Handle, whenFree } from './handle.ts'
import { StoreQueryCompiler } from './query-compiler.ts'
import { withCause } from './refused-write.ts'
import { writtenTable } from './written-table.ts'

/** What the driver stands on. */
export interface Handles {
  readonly writer: Handle
  readonly reader: Handle
  /** Brings commits onto the disk; without it nothing does. */
  readonly flush?: Flush | undefined
  /** A reader of its own for a streamed query, which pins a snapshot for as long as it runs. */
  openReader(): Handle
  /** How long to wait for another process, and to write in this one. */
  readonly timeoutMs: number
  /** Called with what each commit has changed. */
  readonly changes: Changes
}

/** What all ways to one database share. */
interface Shared {
  readonly handles: Handles
  /** Held by whoever writes. */
  readonly mutex: Semaphore
  readonly slice: Timeslice
}

/**
 * Kysely on two SQLite connections: outside a transaction reads run at once on the read-only one, and see what was
 * committed; writes follow one another on the other; a transaction holds it from BEGIN IMMEDIATE to its end.
 */
export function storeDialect(handles: Handles): Dialect {
  const timeoutMs = handles.timeoutMs * 2
  const busy = () =>
    new Error(
      `waited ${timeoutMs} ms to write: is a query on the outer db made inside a transaction?`,
    )
  // SQLite answers at once, so that a loop of awaited queries would run to its end before the event loop turned.
  const slice = new Timeslice(10)
  const mutex = new Semaphore({ limit: 1, timeoutMs, busy })
  const shared = { handles, mutex, slice }
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new StoreDriver(shared),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new StoreQueryCompiler(),
  }
}

class StoreDriver implements Driver {
  readonly #shared: Shared

  constructor(shared: Shared) {
    this.#shared = shared
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<StoreConnection> {
    return new StoreConnection(this.#shared)
  }

  async beginTransaction(connection: StoreConnection): Promise<void> {
    await connection.begin()
  }

  async commitTransaction(connection: StoreConnection): Promise<void> {
    await connection.commit()
  }

  async rollbackTransaction(connection: StoreConnection): Promise<void> {
    connection.rollBack()
  }

  async releaseConnection(connection: StoreConnection): Promise<void> {
    connection.release()
  }

  /** Lets the transaction that is open, and those that wait, end first. */
  async destroy(): Promise<void> {
    const { handles, mutex } = this.#shared
    const release = await mutex.acquire()
    handles.reader.close()
    handles.writer.close()
    handles.flush?.close()
    release()
  }
}

/** One caller's way to the two connections. */
export class StoreConnection implements DatabaseConnection {
  readonly #handles: Handles
  readonly #mutex: Semaphore
  readonly #slice: Timeslice
  #release: (() => void) | undefined
  #state: 'free' | 'transaction' | 'over' = 'free'
  #wrote = false
  #flushLater = false
  /** The tables that were written by their names; undefined: perhaps any. */
  #written: Set<string> | undefined = new Set()

  constructor({ handles, mutex, slice }: Shared) {
    this.#handles = handles
    this.#mutex = mutex
    this.#slice = slice
  }

  async begin(): Promise<void> {
    this.#release = await this.#mutex.acquire()
    try {
      const { writer, timeoutMs } = this.#handles
      await whenFree(timeoutMs, () => writer.prepare('BEGIN IMMEDIATE').run())
      this.#state = 'transaction'
    } catch (error) {
      this.#release()
      throw error
    }
  }

  /** Others may write from the commit on; the caller goes on when it is on the disk, unless it would not wait. */
  async commit(): Promise<void> {
    const { writer } = this.#handles
    writing(writer, () => writer.prepare('COMMIT').run())
    // Readers see it from here on.
    this.#handles.changes.note(this.#written)
    this.#end()
    if (!this.#wrote) return
    if (this.#flushLater) this.#handles.flush?.soon()
    else await this.#handles.flush?.done()
  }

  /** The transaction that is open ends before it is on the disk. */
  flushLater(): void {
    this.#flushLater = true
  }

  rollBack(): void {
    // After a commit that did not reach the disk, the connection is in somebody else's transaction.
    if (this.#state !== 'transaction') return
    const { writer } = this.#handles
    // SQLite itself rolls back when the disk is full, and then there is nothing left to end.
    if (writer.database.open && writer.database.inTransaction) writer.prepare('ROLLBACK').run()
  }

  release(): void {
    if (this.#state === 'transaction') {
      this.rollBack()
      this.#end()
    }
    this.#state = 'over'
  }

  #end(): void {
    this.#state = 'over'
    this.#release?.()
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#slice.isOver()) await this.#slice.yield()
    if (this.#state === 'over') throw new Error(`the transaction is over: ${query.sql}`)
    if (this.#state === 'transaction') return this.#runOnWriter(query)
    const { reader, timeoutMs } = this.#handles
    if (isRead(reader, query)) return whenFree(timeoutMs, () => run<R>(reader, query))
    const result = await this.#write<R>(query)
    if (this.#wrote) await this.#handles.flush?.done()
    return result
  }

  /** A write that is a transaction by itself. */
  async #write<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const release = await this.#mutex.acquire()
    try {
      return await whenFree(this.#handles.timeoutMs, () => {
        const result = this.#runOnWriter<R>(query)
        this.#handles.changes.note(this.#written)
        return result
      })
    } finally {
      release()
    }
  }

  #runOnWriter<R>(query: CompiledQuery): QueryResult<R> {
    const { writer } = this.#handles
    const result = writing(writer, () => run<R>(writer, query))
    if (isRead(writer, query)) return result
    const table = writtenTable(query)
    if (!hasWritten(result, table)) return result
    this.#wrote = true
    if (table === undefined) this.#written = undefined
    else this.#written?.add(table)
    return result
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    if (this.#state !== 'free') throw new Error('stream outside of transactions')
    const own = this.#handles.openReader()
    try {
      const rows = own.prepare(query.sql).iterate(...bind(query.parameters, query.sql))
      for (const row of rows) yield { rows: [row as R] }
    } finally {
      own.close()
    }
  }
}

function isRead(handle: Handle, query: CompiledQuery): boolean {
  const kind = query.query.kind
  if (kind === 'SelectQueryNode') return true
  return kind === 'RawNode' && handle.prepare(query.sql).readonly
}

/** Whether there may be something to bring onto the disk: most looks for due tasks find none. */
function hasWritten(
  { numAffectedRows, rows }: QueryResult<unknown>,
  table: string | undefined,
): boolean {
  if (numAffectedRows === undefined) return rows.length > 0
  // What changes the schema counts no rows; nor is known what it writes.
  return numAffectedRows > 0n || table === undefined
}

function writing<T>(writer: Handle, act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw withCause(error, writer.database.name)
  }
}

function run<R>(handle: Handle, query: CompiledQuery): QueryResult<R> {
  const statement = handle.prepare(query.sql)
  const parameters = bind(query.parameters, query.sql)
  // The row type is what Kysely derived from the query.
  if (statement.reader) return { rows: statement.all(...parameters) as R[] }
  const { changes, lastInsertRowid } = statement.run(...parameters)
  return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
}
