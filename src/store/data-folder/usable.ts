import { accessSync, constants, type Stats } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, statsOf } from '../../base/make-folder.ts'
import { reasonOf, StartError } from '../../base/start-error.ts'

/** What a server makes in its data folder, and works on. What else lies there is nobody's business. */
const folders = [
  'archives',
  'cache',
  'files',
  'files/tmp',
  'hooks',
  'outbox',
  'repositories',
  'snapshots',
  'tmp',
  'traces',
]
/** Each is read and written, but for the key, which is only read. */
const files = [
  'gitstead.db-shm',
  'gitstead.db-wal',
  'gitstead.db',
  'reserve',
  'secret.key',
  'server.lock',
  'server.pid',
]

/** Makes the data folder where it is missing, and refuses in one line one in which nobody can work. */
export function prepareDataFolder(folder: string): void {
  try {
    makeFolder(folder, `the data folder ${folder}`)
  } catch (error) {
    throw new StartError(`${reasonOf(error)}: see GITSTEAD_DATA`)
  }
  assertUsable(folder)
}

/** Refuses in one line a data folder, or a part of it, that this user cannot work in, or that is something else. */
export function assertUsable(folder: string): void {
  assertFolder(folder, `the data folder ${folder}`)
  for (const name of folders) assertFolder(join(folder, name), join(folder, name))
  for (const name of files) {
    const path = join(folder, name)
    const found = statsOf(path, path)
    if (found && !found.isFile()) throw new StartError(`${path} is no file: move it away`)
    // A database that is marked read-only is reported in words of its own.
    if (found) assertAccess(path, path, found, constants.R_OK | writing(name, found))
  }
}

function assertFolder(path: string, title: string): void {
  const found = statsOf(path, title)
  if (found === undefined) return
  if (!found.isDirectory()) throw new StartError(`${title} is no folder, but a file`)
  assertAccess(path, title, found, constants.R_OK | constants.W_OK | constants.X_OK)
}

function assertAccess(path: string, title: string, { uid }: Stats, wanted: number): void {
  try {
    accessSync(path, wanted)
  } catch (error) {
    const isOurs = uid === process.geteuid?.()
    const isRight = error instanceof Error && 'code' in error && error.code === 'EACCES'
    if (!isRight || isOurs) {
      throw new StartError(`${title} cannot be read and written (${reasonOf(error)})`)
    }
    throw new StartError(
      `${title} cannot be read and written: it belongs to user ${uid}, and this is user ${process.geteuid?.()}`,
    )
  }
}

function writing(name: string, { mode }: Stats): number {
  return name === 'secret.key' || (mode & 0o222) === 0 ? 0 : constants.W_OK
}
