import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Bytes on disk below a folder, as blocks that are taken. */
export async function diskUsage(folder: string): Promise<number> {
  let sum = 0
  for await (const path of walk(folder)) {
    const found = await stat(path).catch(() => undefined)
    sum += (found?.blocks ?? 0) * 512
  }
  return sum
}

/** Locks, quarantines and temporary files in a data folder: of work that goes on, or left over. */
export async function listLeftovers(data: string): Promise<string[]> {
  const found: string[] = []
  for await (const path of walk(data)) {
    const name = relative(data, path)
    if (leftover.test(name)) found.push(name)
  }
  return found
}

/** What may be there only while somebody works on it. */
const leftover =
  /^tmp\/.|^files\/tmp\/.|^repositories\/.*(\.lock$|\/(tmp_|incoming-|\.tmp-)|tmp_objdir)/

/** What is still left after the time in which work that was cut off is cleaned up. */
export async function leftoversAfter(data: string, milliseconds: number): Promise<string[]> {
  const end = Date.now() + milliseconds
  for (;;) {
    const found = await listLeftovers(data)
    if (found.length === 0 || Date.now() > end) return found
    await sleep(100)
  }
}

async function* walk(folder: string): AsyncGenerator<string> {
  let entries: Dirent[]
  try {
    entries = await readdir(folder, { withFileTypes: true })
  } catch {
    return
  }
  for (const entry of entries) {
    const path = join(folder, entry.name)
    yield path
    if (entry.isDirectory()) yield* walk(path)
  }
}
