import { closeSync, openSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { Kysely } from 'kysely'
import { type Instant, systemClock } from '../base/clock.ts'
import { StartError } from '../base/start-error.ts'
import { cacheQueries } from './cached-query.ts'
import { Changes } from './changes.ts'
import { assertMigrated, migrate } from './migrate.ts'
import type { Migration } from './migration.ts'
import { ReadCache } from './read-cache.ts'
import { keepReserve, withReserve } from './reserve.ts'
import type { Db, Schema } from './schema.ts'
import { Checkpoints, mostPages } from './sqlite/checkpoints.ts'
import { storeDialects } from './sqlite/driver.ts'
import { Flush } from './sqlite/flush.ts'
import { Handle } from './sqlite/handle.ts'
import { LogMender } from './sqlite/mend-log.ts'
import { withCause } from './sqlite/refused-write.ts'
import { findLogDamage } from './sqlite/wal.ts'
import { offerWatching } from './watch.ts'

export interface StoreOptions {
  readonly now?: () => Instant
  /** The schema, which the areas bring. */
  readonly migrations: readonly Migration[]
  /** False refuses a database that must be upgraded: another program is using it. */
  readonly mayMigrate?: boolean
  /** How long a write waits for another process that holds the database. */
  readonly timeoutMs?: number
  /** `off` only for tests, whose data nobody misses after a power cut. */
  readonly synchronous?: 'full' | 'off'
  /** Bytes of values read from the database that are cached. */
  readonly cacheBytes?: number
}

/** An open database, and what only its owner may do with it. */
export interface Store {
  readonly db: Db
  readonly path: string
  /** What has changed since when. */
  readonly changes: Changes
  /** Values read from this database. */
  readonly cache: ReadCache
  /** Names of the migrations that this start has run. */
  readonly migrated: readonly string[]
  /** What was wrong with the write-ahead log before it was opened: changes may be lost. */
  readonly logDamage: string | undefined
  /** A consistent copy of the whole database in one new file, while others read and write. */
  copyTo(path: string): Promise<void>
  /** Empties the write-ahead log into the database file. */
  checkpoint(): void
  /** What SQLite finds wrong with the file: nothing, when all is well. */
  faults(): string[]
  close(): Promise<void>
}

/** Opens `<folder>/gitstead.db`, brings its schema up to date, and gives the one database of this process. */
export function openStore(folder: string, options: StoreOptions): Store {
  const path = join(folder, 'gitstead.db')
  const { now = systemClock, timeoutMs = 10_000 } = options
  // Only a server that has the data folder to itself finds the log at rest.
  const logDamage = options.mayMigrate === false ? undefined : findLogDamage(path)
  const writer = withReserve(folder, () => openWriter(path, options))
  try {
    if (options.mayMigrate === false) assertMigrated(writer, options.migrations)
    const migrated = migrate(writer, folder, options.migrations, now)
    const openReader = () => new Handle(openReadOnly(path))
    const mender = new LogMender(path, writer)
    const mend = () => mender.mend()
    const flush = options.synchronous === 'off' ? undefined : new Flush(`${path}-wal`, { mend })
    // From here on it is we who bring commits onto the disk, before anybody hears of them.
    if (flush) writer.pragma('synchronous = NORMAL')
    const owner = new Handle(writer)
    const changes = new Changes(owner)
    const handles = {
      writer: owner,
      reader: openReader(),
      flush,
      openReader,
      timeoutMs,
      changes,
    }
    const dialects = storeDialects(handles)
    const db = new Kysely<Schema>({ dialect: dialects.plain })
    const cache = new ReadCache(
      changes,
      (notes) => new Kysely<Schema>({ dialect: dialects.noting(notes) }),
      options.cacheBytes,
    )
    cacheQueries(db, cache)
    offerWatching(db, changes)
    if (options.mayMigrate !== false) keepReserve(folder)
    const checkpoints = flush && new Checkpoints(path)
    if (checkpoints) writer.pragma(`wal_autocheckpoint = ${mostPages}`)
    return {
      db,
      changes,
      cache,
      path,
      migrated,
      logDamage,
      copyTo: (target) => copyDatabase(openReader(), target),
      checkpoint() {
        writer.pragma('wal_checkpoint(TRUNCATE)')
      },
      faults: () => faultsOf(handles.reader.database),
      async close() {
        await checkpoints?.stop()
        await db.destroy()
        checkpoints?.close()
        mender.close()
      },
    }
  } catch (error) {
    writer.close()
    throw refusal(path, error)
  }
}

function openWriter(
  path: string,
  { synchronous = 'full', mayMigrate = true }: StoreOptions,
): Database.Database {
  assertWritable(path)
  try {
    const database = new Database(path, { timeout: 0 })
    try {
      waitFor(database, () => database.pragma('journal_mode = WAL'))
      database.pragma(`synchronous = ${synchronous}`)
      database.pragma('foreign_keys = ON')
      database.pragma('trusted_schema = OFF')
      database.pragma('temp_store = MEMORY')
      database.pragma('cache_size = -16000')
      database.pragma('journal_size_limit = 67108864')
      // A start without room or rights to write fails here; who comes beside a server waits when it writes.
      if (mayMigrate) waitFor(database, () => database.exec('BEGIN IMMEDIATE; ROLLBACK'))
      return database
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    throw refusal(path, error)
  }
}

/** At the start nothing else runs yet, so that waiting for another process may block. */
function waitFor(database: Database.Database, act: () => unknown): void {
  database.pragma('busy_timeout = 10000')
  try {
    act()
  } finally {
    database.pragma('busy_timeout = 0')
  }
}

function openReadOnly(path: string): Database.Database {
  const database = new Database(path, { readonly: true, timeout: 0 })
  database.pragma('query_only = ON')
  database.pragma('trusted_schema = OFF')
  database.pragma('temp_store = MEMORY')
  database.pragma('cache_size = -32000')
  return database
}

/** The super-user may write to a file that is marked read-only; whoever marked it did not want that. */
function assertWritable(path: string): void {
  if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory()) {
    throw new StartError(`the data folder ${dirname(path)} does not exist`)
  }
  const mode = statSync(path, { throwIfNoEntry: false })?.mode
  // It holds digests of passwords and tokens; SQLite gives its log files the same rights.
  if (mode === undefined) closeSync(openSync(path, 'a', 0o600))
  if (mode !== undefined && (mode & 0o222) === 0) {
    throw new StartError(`the database ${path} is read-only`)
  }
}

function refusal(path: string, error: unknown): Error {
  if (!(error instanceof Database.SqliteError)) return error as Error
  const reasons: Record<string, string> = {
    SQLITE_READONLY: 'is read-only',
    SQLITE_CANTOPEN: 'cannot be opened',
    SQLITE_NOTADB: 'is not a database',
    SQLITE_CORRUPT: 'is damaged',
    SQLITE_FULL: 'cannot grow: the disk is full',
    SQLITE_BUSY: 'is held by another process',
    SQLITE_IOERR_SHMSIZE: 'cannot be opened: the disk is full',
    SQLITE_IOERR: 'cannot be read or written',
  }
  const reason = Object.entries(reasons).find(([code]) => error.code.startsWith(code))?.[1]
  return new StartError(`the database ${path} ${reason ?? 'fails'} (${error.message})`, {
    cause: withCause(error, path),
  })
}

/** A read transaction of its own pins what is copied: otherwise each write in between would start the copy anew. */
async function copyDatabase(own: Handle, target: string): Promise<void> {
  try {
    own.database.exec('BEGIN; SELECT 1 FROM sqlite_schema')
    await own.database.backup(target, { progress: () => 500 })
    const file = await open(target, 'r')
    await file.sync()
    await file.close()
  } finally {
    own.close()
  }
}

function faultsOf(database: Database.Database): string[] {
  const found = database.pragma('integrity_check') as { integrity_check: string }[]
  const texts = found.map((row) => row.integrity_check).filter((text) => text !== 'ok')
  const broken = database.pragma('foreign_key_check') as { table: string; rowid: number }[]
  return [...texts, ...broken.map((row) => `${row.table} row ${row.rowid} points to nothing`)]
}
