import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { isDiskFull } from '../../base/full-disk.ts'
import { StartError } from '../../base/start-error.ts'
import { isBusy } from './handle.ts'

/** The hold that one server has on its data folder. */
export interface DataLock {
  release(): void
}

/** Takes the data folder for this process, or refuses in one line. */
export function lockDataFolder(folder: string): DataLock {
  const lock = tryLockDataFolder(folder)
  if (lock) return lock
  const holder = holderOf(join(folder, 'server.pid'))
  throw new StartError(`another server${holder} uses the data folder ${folder}`)
}

/**
 * Takes the data folder for this process unless a server has it. The lock is SQLite's own on a file made for it: the
 * kernel lets go of it however the process ends.
 */
export function tryLockDataFolder(folder: string): DataLock | undefined {
  makeFolder(folder)
  const path = join(folder, 'server.lock')
  const pidPath = join(folder, 'server.pid')
  const database = openLock(path)
  try {
    database.pragma('journal_mode = MEMORY')
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (!isBusy(error)) throw new StartError(`the lock ${path} fails (${String(error)})`)
    return undefined
  }
  notePid(pidPath)
  return {
    release() {
      if (!database.open) return
      rmSync(pidPath, { force: true })
      database.close()
    },
  }
}

/** For whoever is refused; left out on a full disk. */
function notePid(path: string): void {
  try {
    writeFileSync(path, `${process.pid}\n`, { mode: 0o600 })
  } catch (error) {
    if (!isDiskFull(error)) throw error
  }
}

function openLock(path: string): Database.Database {
  try {
    return new Database(path, { timeout: 0 })
  } catch (error) {
    throw new StartError(`the lock ${path} cannot be opened (${String(error)})`)
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new StartError(`the data folder ${folder} cannot be made (${String(error)})`)
  }
}

function holderOf(pidPath: string): string {
  try {
    return ` (process ${readFileSync(pidPath, 'utf8').trim()})`
  } catch {
    return ''
  }
}
