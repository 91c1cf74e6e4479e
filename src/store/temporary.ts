import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isRunning, ownerOf } from '../base/process-mark.ts'

/**
 * What lies in a folder of temporary files although its process is gone. Names without a process are of a program that
 * gave none: for the server, which alone holds the data folder, they are left over too.
 */
export async function listLeftTemporary(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => {
    const owner = ownerOf(name)
    return owner === undefined || !isRunning(owner)
  })
}

/** Removes what dead processes left in a folder of temporary files; gives the number. */
export async function clearTemporary(folder: string): Promise<number> {
  const names = await listLeftTemporary(folder)
  for (const name of names) await rm(join(folder, name), { recursive: true, force: true })
  return names.length
}
