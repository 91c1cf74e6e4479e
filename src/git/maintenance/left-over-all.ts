import { readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isOrphaned } from '../../base/process-mark.ts'
import { removeLeftOvers, removeSoon } from '../locks/left-over.ts'
import { nameOfFolder, type RepoName } from '../repo-name.ts'

/**
 * Removes what dead processes left in all repositories below a folder; gives the number. Nobody waits on the way for a
 * repository that is being written, which is looked at again.
 */
export async function removeFromAll(root: string, signal?: AbortSignal): Promise<number> {
  let removed = 0
  for (const path of await listUnfinished(root)) {
    await rm(path, { recursive: true, force: true })
    removed += 1
  }
  const later: Promise<string[]>[] = []
  for await (const path of repositoriesIn(root)) {
    if (signal?.aborted) break
    if (!path.endsWith('.git')) continue
    // One that goes away meanwhile has nothing left.
    const look = await removeLeftOvers(path).catch(() => undefined)
    removed += look?.removed.length ?? 0
    if (look?.inUse) later.push(removeSoon(path, signal))
  }
  return removed + (await Promise.all(later)).flat().length
}

/** Repositories that were being made or removed by a process that is gone. */
export async function listUnfinished(root: string): Promise<string[]> {
  const found: string[] = []
  for await (const path of repositoriesIn(root)) {
    if (/\.(?:new|gone)$/.test(path) && isOrphaned(basename(path))) found.push(path)
  }
  return found
}

/** Repositories that were made to their end. */
export async function listWhole(
  root: string,
): Promise<{ readonly name: RepoName; readonly path: string }[]> {
  const found: { readonly name: RepoName; readonly path: string }[] = []
  for await (const path of repositoriesIn(root)) {
    const name = nameOfFolder(basename(path))
    if (name !== undefined) found.push({ name, path })
  }
  return found
}

/** Whole repositories and others. */
async function* repositoriesIn(root: string): AsyncGenerator<string> {
  for (const shard of await namesIn(root)) {
    for (const name of await namesIn(join(root, shard))) yield join(root, shard, name)
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => [])
}
