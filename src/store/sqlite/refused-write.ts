import { rmSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'

/** More than the end of a spent quota may have left. */
const probeBytes = 64 * 1024

/**
 * SQLite has one code for all writes that the system refuses, but for a full disk: those of a spent quota, of a limit of
 * the size of files and of a broken disk. What becomes of a write of our own beside the database distinguishes them, and
 * is given as the cause.
 */
export function withCause(error: unknown, path: string): unknown {
  if (!(error instanceof Database.SqliteError) || error.code !== 'SQLITE_IOERR_WRITE') return error
  const probe = `${path}-probe`
  try {
    writeFileSync(probe, Buffer.alloc(probeBytes), { mode: 0o600 })
  } catch (cause) {
    error.cause = cause
  }
  try {
    rmSync(probe, { force: true })
  } catch {
    // A disk that refuses this as well: what SQLite said is what counts.
  }
  return error
}
