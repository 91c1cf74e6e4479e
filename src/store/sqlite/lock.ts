import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { isDiskFull } from '../../base/full-disk.ts'
import { reasonOf, StartError } from '../../base/start-error.ts'
import { prepareDataFolder } from '../data-folder/usable.ts'
import { isBusy } from './handle.ts'

/** The hold that one server has on its data folder. */
export interface DataLock {
  release(): void
}

/** Commands lock the folder for a moment when they open it. */
const waitMs = 2000

/** Takes the data folder for this process, or refuses in one line. */
export async function lockDataFolder(folder: string): Promise<DataLock> {
  const end = performance.now() + waitMs
  do {
    const lock = tryLockDataFolder(folder)
    if (lock) return lock
    await sleep(50)
  } while (performance.now() < end)
  const holder = holderOf(join(folder, 'server.pid'))
  throw new StartError(`another server${holder} uses the data folder ${folder}`)
}

/**
 * Takes the data folder for this process unless a server has it. The lock is SQLite's own on a file made for it: the
 * kernel lets go of it however the process ends.
 */
export function tryLockDataFolder(folder: string): DataLock | undefined {
  prepareDataFolder(folder)
  const path = join(folder, 'server.lock')
  const pidPath = join(folder, 'server.pid')
  let isHeld = true
  const unlock = lockFile(path)
  if (!unlock) return undefined
  notePid(pidPath)
  return {
    release() {
      if (!isHeld) return
      isHeld = false
      rmSync(pidPath, { force: true })
      unlock()
    },
  }
}

/** Takes the lock of a file that is made for it; gives what releases it, or nothing when another process has it. */
export function lockFile(path: string): (() => void) | undefined {
  const database = openLock(path)
  try {
    database.pragma('journal_mode = MEMORY')
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (!isBusy(error)) throw lockFails(path, error)
    return undefined
  }
  return () => void database.close()
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
    throw lockFails(path, error)
  }
}

function lockFails(path: string, error: unknown): StartError {
  return new StartError(
    `the lock ${path} fails (${reasonOf(error)}): remove it when no server runs`,
  )
}

function holderOf(pidPath: string): string {
  try {
    return ` (process ${readFileSync(pidPath, 'utf8').trim()})`
  } catch {
    return ''
  }
}
