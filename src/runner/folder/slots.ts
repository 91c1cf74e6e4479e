import { mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isRunning, processMark } from '../../base/process-mark.ts'

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
  if (await tryMake(path)) return true
  const holder = await readFile(path, 'utf8').catch(() => '')
  if (holder === '' || isRunning(holder)) return false
  await rm(path, { force: true })
  return await tryMake(path)
}

/** Makes the file, unless it is there. What fails later takes away the file that was made here, and no other. */
async function tryMake(path: string): Promise<boolean> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return undefined
    throw error
  })
  if (!file) return false
  try {
    await file.writeFile(processMark(process.pid) ?? String(process.pid))
    return true
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}
