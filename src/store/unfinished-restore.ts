import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../base/start-error.ts'

/** The file that says that a backup is being restored into a data folder, or that this was interrupted. */
export function unfinishedRestore(folder: string): string {
  return join(folder, 'restore-unfinished')
}

/** Refuses a data folder that holds half of a backup: a server would begin anew in it. */
export function assertRestored(folder: string): void {
  if (!existsSync(unfinishedRestore(folder))) return
  throw new StartError(
    `a backup was not restored to its end in ${folder}: empty the folder and restore it again`,
  )
}
