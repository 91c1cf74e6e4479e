import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isRunning, processMark } from '../base/process-mark.ts'

/** A place for one job at a time, which no other process uses meanwhile. */
export interface Slot {
  readonly number: number
  release(): Promise<void>
}

/** Takes the first free place of a folder; that of a process that died is free. Fails when none can be written. */
export async function takeSlot(folder: string): Promise<Slot> {
  await mkdir(join(folder, 'slots'), { recursive: true, mode: 0o700 })
  for (let number = 0; ; number += 1) {
    const path = join(folder, 'slots', String(number))
    if (await tryTake(path)) return { number, release: () => rm(path, { force: true }) }
  }
}

async function tryTake(path: string): Promise<boolean> {
  const own = processMark(process.pid) ?? String(process.pid)
  try {
    await writeFile(path, own, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      // The name may be there, without what says whose it is.
      await rm(path, { force: true }).catch(() => {})
      throw error
    }
    const holder = await readFile(path, 'utf8').catch(() => '')
    if (holder === '' || isRunning(holder)) return false
    await rm(path, { force: true })
    return await writeFile(path, own, { flag: 'wx', mode: 0o600 }).then(
      () => true,
      () => false,
    )
  }
}
