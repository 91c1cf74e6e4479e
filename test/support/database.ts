import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrations } from '../../src/areas.ts'
import { openStore, type Store } from '../../src/store/connection.ts'

let template: Buffer | undefined

/** A new folder for one test's data. */
export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'gitstead-test-'))
}

export interface TestStore extends Store {
  readonly folder: string
  /** Closes the database and removes the folder. */
  remove(): Promise<void>
}

/** An open database with the whole schema, in `folder` or in one of its own; a copy of one that is migrated once. */
export function openTestStore(folder = newFolder()): TestStore {
  mkdirSync(folder, { recursive: true })
  placeDatabase(folder)
  const store = openStore(folder, { migrations, synchronous: 'off' })
  return {
    ...store,
    folder,
    async remove() {
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Puts a migrated, empty database into a folder that has none. */
export function placeDatabase(folder: string): void {
  const path = join(folder, 'gitstead.db')
  if (!existsSync(path)) writeFileSync(path, migratedTemplate(), { mode: 0o600 })
}

/** The bytes of a migrated, empty database: those that a run of tests has made (migrated-database.ts), or new ones. */
function migratedTemplate(): Buffer {
  const { GITSTEAD_TEST_DATABASE: made } = process.env
  template ??= made === undefined ? migratedDatabase() : readFileSync(made)
  return template
}

/** The bytes of a new database with the whole schema. */
export function migratedDatabase(): Buffer {
  const folder = newFolder()
  const store = openStore(folder, { migrations, synchronous: 'off' })
  store.checkpoint()
  const bytes = readFileSync(store.path)
  // The folder may go while the database is open: nobody asks it again.
  rmSync(folder, { recursive: true })
  void store.close()
  return bytes
}
