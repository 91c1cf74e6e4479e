import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { assertRepository } from '../damage.ts'

// Two changes within one tick of the disk's clock look the same; a state so fresh is not trusted.
const stableAfterMs = 50

/**
 * Finds whether the refs of a repository may have changed, from the times of `HEAD`, `packed-refs`
 * and the folders below `refs` alone: git replaces ref files by renaming, which touches the folder.
 */
export class RefsStates {
  readonly #known = new LRUCache<string, Known>({ max: 2000 })

  /** A text that differs when refs differ, or undefined while they are in motion. */
  async of(repository: string): Promise<string | undefined> {
    const known = this.#known.get(repository)
    const times = known && (await timesOf(repository, known.folders))
    if (times?.text === known?.text && times !== undefined) return times.text
    return await this.#look(repository)
  }

  async #look(repository: string): Promise<string | undefined> {
    const folders = await foldersBelow(join(repository, 'refs')).catch((error: unknown) => {
      assertRepository(repository)
      throw error
    })
    const times = await timesOf(repository, folders)
    this.#known.delete(repository)
    if (times === undefined || times.newest > Date.now() - stableAfterMs) return undefined
    this.#known.set(repository, { folders, text: times.text })
    return times.text
  }
}

interface Known {
  readonly folders: readonly string[]
  readonly text: string
}

interface Times {
  readonly text: string
  readonly newest: number
}

/** undefined when a folder is gone. */
async function timesOf(repository: string, folders: readonly string[]): Promise<Times | undefined> {
  const paths = [join(repository, 'HEAD'), join(repository, 'packed-refs'), ...folders]
  let newest = 0
  const parts = await Promise.all(
    paths.map(async (path) => {
      const stats = await stat(path, { bigint: true }).catch(() => undefined)
      if (!stats) return path.endsWith('packed-refs') ? '-' : undefined
      newest = Math.max(newest, Number(stats.mtimeMs))
      return `${stats.ino}.${stats.mtimeNs}.${stats.size}`
    }),
  )
  if (parts.includes(undefined)) return undefined
  return { text: parts.join(' '), newest }
}

async function foldersBelow(root: string): Promise<string[]> {
  const folders = [root]
  for (const entry of await readdir(root, { withFileTypes: true })) {
    if (entry.isDirectory()) folders.push(...(await foldersBelow(join(root, entry.name))))
  }
  return folders
}
