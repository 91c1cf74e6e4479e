import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { reasonOf, StartError } from '../../base/start-error.ts'

const DATABASE = 'gitstead.db'

/** Whether no start has made a database in this folder; an empty file is none. */
export function isFirstStart(folder: string): boolean {
  return (statSync(join(folder, DATABASE), { throwIfNoEntry: false })?.size ?? 0) === 0
}

/** Refuses to make a new database beside the repositories or files of one that is missing. */
export function assertDatabaseNotLost(folder: string): void {
  if (!isFirstStart(folder)) return
  const left = [
    ...(holdsAny(join(folder, 'repositories'), [/^[0-9a-f]{2}$/, /^\d.*\.git$/])
      ? ['repositories']
      : []),
    ...(holdsAny(join(folder, 'files'), [/^[0-9a-f]{2}$/, /^[0-9a-f]{2}$/, /^[0-9a-f]{64}$/])
      ? ['files']
      : []),
  ]
  if (left.length === 0) return
  throw new StartError(
    `the database ${join(folder, DATABASE)} is missing, but ${folder} (GITSTEAD_DATA) holds ` +
      `${left.join(' and ')}: put the database back, or move ${left.join(' and ')} away to begin anew`,
  )
}

/** Whether there is something below a folder at the end of such names. */
function holdsAny(folder: string, [form, ...below]: readonly RegExp[]): boolean {
  if (form === undefined) return true
  return namesIn(folder).some((name) => form.test(name) && holdsAny(join(folder, name), below))
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))) return []
    throw new StartError(`${folder} cannot be read (${reasonOf(error)})`)
  }
}

/** What to do about a data folder that others than its owner may enter or read; undefined for one that is closed. */
export function openToOthers(folder: string): string | undefined {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0
  if ((mode & 0o077) === 0) return undefined
  const shown = (mode & 0o777).toString(8).padStart(4, '0')
  return `others on this machine may enter ${folder} (mode ${shown}): chmod 700 ${folder}`
}

/** What a first start, a checkout of the program, or a new disk may have put there already. */
const OF_A_START = ['.gitignore', 'server.lock', 'server.pid', 'tmp', 'lost+found']

/** What there is in a data folder beside that; nothing in one that is empty, or not there yet. */
export function namesInUse(folder: string): string[] {
  return namesIn(folder).filter((name) => !OF_A_START.includes(name))
}

/**
 * Closes the folder of a first start, which a checkout leaves open. One that holds something else may be meant for
 * others too, and is named instead.
 */
export function closeToOthers(folder: string): void {
  if (openToOthers(folder) === undefined) return
  if (namesInUse(folder).length > 0) return
  try {
    chmodSync(folder, 0o700)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
  }
}
