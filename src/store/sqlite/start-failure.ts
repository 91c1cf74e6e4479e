import Database from 'better-sqlite3'
import { isDiskFull } from '../../base/full-disk.ts'
import { reasonOf, StartError, systemRefusal } from '../../base/start-error.ts'

/** What SQLite says, in the words of an operator. */
const reasons: readonly (readonly [code: string, text: string])[] = [
  ['SQLITE_READONLY', 'is read-only'],
  ['SQLITE_CANTOPEN', 'cannot be opened'],
  ['SQLITE_NOTADB', 'is not a database'],
  ['SQLITE_CORRUPT', 'is damaged'],
  ['SQLITE_FULL', 'cannot grow: the disk is full'],
  ['SQLITE_BUSY', 'is held by another process'],
  ['SQLITE_IOERR_SHMSIZE', 'cannot be opened: the disk is full'],
  ['SQLITE_IOERR', 'cannot be read or written'],
]

/** What a database refused, in one line; `name` says which one. */
export function databaseRefusal(error: InstanceType<typeof Database.SqliteError>, name: string) {
  const reason = reasons.find(([code]) => error.code.startsWith(code))?.[1]
  const advice = isLost(error) ? ': put it back from a backup' : ''
  return `the database${name} ${reason ?? 'fails'} (${error.message})${advice}`
}

function isLost({ code }: { readonly code: string }): boolean {
  return code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB'
}

/**
 * Why a server or a command cannot do its work on this machine, in one line; undefined for a fault of our own, which keeps
 * its stack for whoever mends it.
 */
export function startFailure(error: unknown): string | undefined {
  if (error instanceof StartError) return reasonOf(error)
  if (!(error instanceof Database.SqliteError)) {
    return systemRefusal(error) ?? (isDiskFull(error) ? reasonOf(error) : undefined)
  }
  // A statement that SQLite does not understand is ours.
  return error.code === 'SQLITE_ERROR' ? undefined : databaseRefusal(error, '')
}
