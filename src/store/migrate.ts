import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import type { Instant } from '../base/clock.ts'
import { StartError } from '../base/start-error.ts'
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
): string[] {
  const { applied, missing } = compare(database, steps)
  const [first] = missing
  if (first && applied.length > 0) snapshot(database, folder, first.name)
  // SQLite's way to rebuild a table needs the keys off, which no transaction may change.
  database.pragma('foreign_keys = OFF')
  try {
    for (const step of missing) runStep(database, step, now())
  } finally {
    database.pragma('foreign_keys = ON')
  }
  return missing.map((step) => step.name)
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
  const applied = appliedTo(database)
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

function snapshot(database: Database, folder: string, before: string): void {
  const place = join(folder, 'snapshots')
  mkdirSync(place, { recursive: true, mode: 0o700 })
  const target = join(place, `before-${before}.db`)
  const partial = `${target}.partial`
  rmSync(partial, { force: true })
  database.prepare('VACUUM INTO ?').run(partial)
  syncPath(partial)
  renameSync(partial, target)
  syncPath(place)
  const others = readdirSync(place).filter((name) => /^before-.*\.db$/.test(name))
  for (const name of others.sort().slice(0, -keptSnapshots)) rmSync(join(place, name))
}

function syncPath(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}

function runStep(database: Database, step: Migration, at: Instant): void {
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
