import { mkdirSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'

const folderAttempts = 100

/**
 * Gives a written object its place, making the folder when that is missing, and tells whether it was. Maintenance
 * takes folders away that it has emptied, at any moment before there is something new in them: so the file was
 * written elsewhere, and nothing is waited for between these two calls.
 */
export function putObject(draft: string, file: string): boolean {
  for (let made = false, attempt = 1; ; attempt += 1) {
    try {
      renameSync(draft, file)
      return made
    } catch (error) {
      if (!isMissing(error) || attempt === folderAttempts) throw error
      mkdirSync(dirname(file), { recursive: true })
      made = true
    }
  }
}

/** Whether what a call was about is not there. */
export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}
