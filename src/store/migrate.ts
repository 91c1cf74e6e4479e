import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Database, SqliteError } from 'better-sqlite3'
import type { Instant } from '../base/clock.ts'
import { type Log, silentLog } from '../base/log.ts'
import { reasonOf, StartError } from '../base/start-error.ts'
import { productVersion } from '../base/version.ts'
import type { Migration } from './migration.ts'

/** Copies from before an upgrade that are kept. */
const keptSnapshots = 3

/**
 * Runs what is missing, each migration in one transaction with the row that records it, so that an interrupted upgrade
 * goes on where it stopped. Copies a database that holds something first, and refuses one from a newer program.
 */
export function migrate(
  database: Database,
  folder: string,
  steps: readonly Migration[],
  now: () => Instant,
  log: Log = silentLog,
): string[] {
  const { applied, missing } = compare(database, steps)
  const [first] = missing
  const isUpgrade = first !== undefined && applied.length > 0
  // Large databases take minutes, in which somebody waits for the server.
  if (isUpgrade) {
    log.info('the database is copied before its upgrade', {
      from: versionOf(applied),
      to: productVersion,
    })
    const copy = snapshot(database, folder, first.name)
    log.info('the database is upgraded', { steps: missing.length, copy })
  }
  // SQLite's way to rebuild a table needs the keys off, which no transaction may change.
  database.pragma('foreign_keys = OFF')
  try {
    for (const [at, step] of missing.entries()) {
      if (isUpgrade) log.info('upgrading', { step: step.name, number: at + 1, of: missing.length })
      runStep(database, step, now())
    }
  } finally {
    database.pragma('foreign_keys = ON')
  }
  if (isUpgrade) log.info('the database is up to date', { version: productVersion })
  return missing.map((step) => step.name)
}

/** Of the program that ran the last step. */
function versionOf(applied: readonly Applied[]): string {
  return applied.at(-1)?.version ?? 'nothing'
}

/** Refuses a database that lacks a migration, for a program that must not run any. */
export function assertMigrated(database: Database, steps: readonly Migration[]): void {
  const [first] = compare(database, steps).missing
  if (!first) return
  throw new StartError(
    `the database is of an older version (it lacks ${first.name}): ` +
      'stop its server, if one runs, and start this one',
  )
}

function compare(database: Database, steps: readonly Migration[]) {
  database.exec(`CREATE TABLE IF NOT EXISTS schema_migrations (
    name TEXT NOT NULL PRIMARY KEY, version TEXT NOT NULL, applied_at TEXT NOT NULL
  ) STRICT`)
  const applied = steps.reduce(withReplaced, appliedTo(database))
  assertKnown(applied, steps)
  const done = new Set(applied.map((row) => row.name))
  return { applied, missing: steps.filter((step) => !done.has(step.name)) }
}

interface Applied {
  readonly name: string
  readonly version: string
}

function appliedTo(database: Database): Applied[] {
  return database
    .prepare<[], Applied>('SELECT name, version FROM schema_migrations ORDER BY name')
    .all()
}

/** A database that has run all the steps that one replaces has run that one. */
function withReplaced(applied: Applied[], { name, replaces = [] }: Migration): Applied[] {
  const replaced = new Set(replaces)
  const run = applied.filter((row) => replaced.has(row.name))
  const last = run.at(-1)
  if (last === undefined) return applied
  const done = new Set(run.map((row) => row.name))
  const missing = replaces.find((step) => !done.has(step))
  if (missing !== undefined) {
    throw new StartError(
      `the database is of a version before the first release that cannot be upgraded (it lacks ${missing}): ` +
        'bring its projects into a new data folder with gitstead project import',
    )
  }
  return [...applied.filter((row) => !done.has(row.name)), { name, version: last.version }]
}

function assertKnown(applied: readonly Applied[], steps: readonly Migration[]): void {
  const known = new Set(steps.map((step) => step.name))
  const stranger = applied.findLast((row) => !known.has(row.name))
  if (!stranger) return
  const last = steps.at(-1)?.name ?? 'nothing'
  throw new StartError(
    `the database was written by Gitstead ${stranger.version} (${stranger.name}); ` +
      `this is Gitstead ${productVersion}, which knows it up to ${last}: start the newer program`,
  )
}

function snapshot(database: Database, folder: string, before: string): string {
  const place = join(folder, 'snapshots')
  mkdirSync(place, { recursive: true, mode: 0o700 })
  const target = join(place, `before-${before}.db`)
  const partial = `${target}.partial`
  rmSync(partial, { force: true })
  database.prepare('VACUUM INTO ?').run(partial)
  syncPath(partial)
  renameSync(partial, target)
  syncPath(place)
  removeOldest(place, target)
  return target
}

/** By their age: a step that was missing may have a lower number than one that was run long ago. */
function removeOldest(place: string, newest: string): void {
  const others = readdirSync(place)
    .filter((name) => /^before-.*\.db$/.test(name))
    .map((name) => join(place, name))
    .filter((path) => path !== newest)
    .map((path) => ({ path, at: statSync(path).mtimeMs }))
    .sort((a, b) => b.at - a.at || (a.path < b.path ? 1 : -1))
  for (const { path } of others.slice(keptSnapshots - 1)) rmSync(path)
}

function syncPath(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}

function runStep(database: Database, step: Migration, at: Instant): void {
  try {
    applyStep(database, step, at)
  } catch (error) {
    // A full or damaged disk has words of its own.
    if (error instanceof SqliteError && !/^SQLITE_(ERROR|CONSTRAINT)/.test(error.code)) throw error
    throw new StartError(
      `the upgrade of the database ended at ${step.name} (${reasonOf(error)}): nothing of this step was kept, ` +
        'and the older program goes on with the copy in snapshots/',
      { cause: error },
    )
  }
}

function applyStep(database: Database, step: Migration, at: Instant): void {
  database
    .transaction(() => {
      database.exec(step.sql)
      step.run?.(database)
      const broken = database.pragma('foreign_key_check') as { table: string }[]
      if (broken[0]) throw new Error(`${step.name} leaves ${broken[0].table} pointing to nothing`)
      database
        .prepare('INSERT INTO schema_migrations (name, version, applied_at) VALUES (?, ?, ?)')
        .run(step.name, productVersion, at)
    })
    .immediate()
}
