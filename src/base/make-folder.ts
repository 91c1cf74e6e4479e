import { lstatSync, mkdirSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { reasonOf, StartError, systemRefusal } from './start-error.ts'

/**
 * Makes a folder that an operator named, for its owner alone, and those above it with the usual rights: others may have theirs
 * beside it. A StartError says in one line what is in the way. Node's own `recursive` never ends where a link on the way
 * leads to nowhere, or where nothing can be made, as in `/proc`.
 */
export function makeFolder(path: string, title = `the folder ${path}`, mode = 0o700): void {
  if (statsOf(path, title) !== undefined) return
  const parent = dirname(path)
  if (parent !== path) makeFolder(parent, undefined, 0o777)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
    throw new StartError(`${title} cannot be made (${systemRefusal(error) ?? reasonOf(error)})`)
  }
}

/** Undefined for what is not there; a link to nowhere is there, and of no use. */
export function statsOf(path: string, title: string): Stats | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found || !lstatSync(path, { throwIfNoEntry: false })) return found
  } catch (error) {
    throw new StartError(`${title} cannot be used (${systemRefusal(error) ?? reasonOf(error)})`)
  }
  throw new StartError(`${title} is a link that leads to nowhere: is a disk not mounted?`)
}
