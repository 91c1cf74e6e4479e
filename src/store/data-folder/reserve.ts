import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDiskFull } from '../../base/full-disk.ts'

/** What SQLite needs to open a database: its index of the write-ahead log, and a page or two. */
const reserveBytes = 1024 * 1024

/**
 * Runs what opens the database; on a full disk it is given the room that an earlier start has put aside. So a server that
 * was stopped can still start, and serve reads.
 */
export function withReserve<T>(folder: string, open: () => T): T {
  const path = join(folder, 'reserve')
  try {
    return open()
  } catch (error) {
    if (!isDiskFull(error) || !release(path)) throw error
    return open()
  }
}

/** Puts the room aside, where there is some. */
export function keepReserve(folder: string): void {
  const path = join(folder, 'reserve')
  if (statSync(path, { throwIfNoEntry: false })?.size === reserveBytes) return
  try {
    writeFileSync(path, Buffer.alloc(reserveBytes), { mode: 0o600 })
  } catch (error) {
    rmSync(path, { force: true })
    if (!isDiskFull(error)) throw error
  }
}

function release(path: string): boolean {
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined
  rmSync(path, { force: true })
  return isThere
}
