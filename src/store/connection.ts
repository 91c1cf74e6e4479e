import { closeSync, openSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { Kysely } from 'kysely'
import { type Instant, systemClock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { StartError } from '../base/start-error.ts'
import { cacheQueries } from './cached-query.ts'
import { Changes } from './changes.ts'
import { keepReserve, withReserve } from './data-folder/reserve.ts'
import { assertMigrated, migrate } from './migrate.ts'
import type { Migration } from './migration.ts'
import type { Db, Schema } from './schema.ts'
import { Checkpoints, mostPages } from './sqlite/checkpoints.ts'
import { storeDialect } from './sqlite/driver.ts'
import { Flush } from './sqlite/flush.ts'
import { Handle } from './sqlite/handle.ts'
import { withCause } from './sqlite/refused-write.ts'
import { faultsIn } from './sqlite/snapshot.ts'
import { databaseRefusal } from './sqlite/start-failure.ts'
import { offerWatching } from './watch.ts'

export interface StoreOptions {
  readonly now?: () => Instant
  /** Where an upgrade says how far it is. */
  readonly log?: Log
  /** The schema, which the areas bring. */
  readonly migrations: readonly Migration[]
  /** False refuses a database that must be upgraded: another program is using it. */
  readonly mayMigrate?: boolean
  /** How long a write waits for another process that holds the database. */
  readonly timeoutMs?: number
  /** `off` only for tests, whose data nobody misses after a power cut. */
  readonly synchronous?: 'full' | 'off'
}

/** An open database, and what only its owner may do with it. */
export interface Store {
  readonly db: Db
  readonly path: string
  /** What has changed since when. */
  readonly changes: Changes
  /** Names of the migrations that this start has run. */
  readonly migrated: readonly string[]
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
  const writer = withReserve(folder, () => openWriter(path, options))
  try {
    if (options.mayMigrate === false) assertMigrated(writer, options.migrations)
    const migrated = migrate(writer, folder, options.migrations, now, options.log)
    const openReader = () => new Handle(openReadOnly(path))
    const flush =
      options.synchronous === 'off' ? undefined : new Flush(`${path}-wal`, endWithoutDisk)
    // From here on it is we who bring commits onto the disk, before anybody sees them.
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
    const db = new Kysely<Schema>({ dialect: storeDialect(handles) })
    cacheQueries(db, changes)
    offerWatching(db, changes)
    if (options.mayMigrate !== false) keepReserve(folder)
    const checkpoints = flush && new Checkpoints(path, () => changes.count)
    if (checkpoints) writer.pragma(`wal_autocheckpoint = ${mostPages}`)
    return {
      db,
      changes,
      path,
      migrated,
      copyTo: (target) => copyDatabase(openReader(), target),
      checkpoint() {
        writer.pragma('wal_checkpoint(TRUNCATE)')
      },
      faults: () => faultsIn(handles.reader.database),
      async close() {
        await checkpoints?.stop()
        await db.destroy()
      },
    }
  } catch (error) {
    writer.close()
    throw refusal(path, error)
  }
}

/** Ends the process as any fault that nobody caught does: the next start copies what the log holds into the database file. */
function endWithoutDisk(cause: unknown): void {
  const fault = new Error('the database cannot be brought onto the disk', { cause })
  setImmediate(() => {
    throw fault
  })
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
  return new StartError(databaseRefusal(error, ` ${path}`), { cause: withCause(error, path) })
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
