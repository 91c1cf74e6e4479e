// @ts-check
import { renameSync, rmSync } from 'node:fs'

/**
 * Puts a whole folder in the place of another, so that an interruption leaves the old one, or none, but never half of the new.
 *
 * @param {string} folder
 * @param {(fresh: string) => void | Promise<void>} fill
 */
export async function replaceFolder(folder, fill) {
  const fresh = `${folder}.new`
  const old = `${folder}.old`
  // Whoever wrote there when it was killed may need a moment to end.
  const patient = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }
  for (const left of [fresh, old]) rmSync(left, patient)
  await fill(fresh)
  try {
    renameSync(folder, old)
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error
  }
  renameSync(fresh, folder)
  rmSync(old, { recursive: true, force: true })
}
