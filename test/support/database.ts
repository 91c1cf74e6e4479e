import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore, type Store } from '../../src/store/connection.ts'

/** Memory-backed where the system has it: tests make thousands of databases. */
const fastFolder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
let template: string | undefined

/** A new folder for one test's data. */
export function newFolder(): string {
  return mkdtempSync(join(fastFolder, 'gitstead-test-'))
}

export interface TestStore extends Store {
  readonly folder: string
  /** Closes the database and removes the folder. */
  remove(): Promise<void>
}

/** An open database with the whole schema, in `folder` or in one of its own; a copy of one that is migrated once. */
export function openTestStore(folder = newFolder()): TestStore {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'gitstead.db')
  if (!existsSync(path)) copyFileSync(migratedTemplate(), path)
  const store = openStore(folder, { synchronous: 'off' })
  return {
    ...store,
    folder,
    async remove() {
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The file of a migrated, empty database, made once in each test process. */
export function migratedTemplate(): string {
  if (template !== undefined) return template
  const folder = newFolder()
  const store = openStore(folder, { synchronous: 'off' })
  store.checkpoint()
  template = store.path
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return template
}
