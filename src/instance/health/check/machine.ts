import { existsSync, readdirSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../../base/config.ts'
import { reasonOf } from '../../../base/start-error.ts'
import type { Ctx } from '../../../ctx.ts'
import { assertUsable } from '../../../store/data-folder/usable.ts'
import { openToOthers } from '../../../store/sqlite/data-folder.ts'
import { findNewestMoment } from '../queries.ts'
import { type Finding, finding } from './finding.ts'

/** Merges are made by `git merge-tree --write-tree` with a base of our own, which came with it. */
const LEAST_GIT = [2, 39] as const
const LEAST_FREE_BYTES = 1024 ** 3
const LEAST_FREE_FILES = 10_000
const CLOCK_MS = 5 * 60_000
const mostNamed = 5

export function gitFinding(found: string | undefined): Finding {
  if (found === undefined) return finding('git', 'failure', 'the program git is missing')
  const [major = 0, minor = 0] = found.split('.').map(Number)
  const [leastMajor, leastMinor] = LEAST_GIT
  const enough = major > leastMajor || (major === leastMajor && minor >= leastMinor)
  const advice = enough ? '' : `, ${LEAST_GIT.join('.')} or newer is needed`
  return finding('git', enough ? 'ok' : 'failure', `version ${found}${advice}`)
}

export function folderFinding({ data }: Config): Finding {
  try {
    assertUsable(data)
  } catch (error) {
    return finding('data folder', 'failure', reasonOf(error))
  }
  if (!existsSync(data)) return finding('data folder', 'ok', `${data} is made by the first start`)
  const open = openToOthers(data)
  return finding('data folder', open === undefined ? 'ok' : 'warning', open ?? data)
}

export async function spaceFinding({ data }: Config): Promise<Finding> {
  const { bavail, bsize, files, ffree } = await statfs(data)
  const free = bavail * bsize
  const text = `${(free / 1024 ** 3).toFixed(1)} GB free`
  // Some file systems count no files.
  if (files > 0 && ffree < LEAST_FREE_FILES) {
    return finding('disk', 'warning', `${text}, but room for ${ffree} more files only`)
  }
  return finding('disk', free < LEAST_FREE_BYTES ? 'warning' : 'ok', text)
}

/** A clock that runs behind makes tokens live longer and lists come in another order. */
export async function clockFinding({ db, now }: Pick<Ctx, 'db' | 'now'>): Promise<Finding> {
  const newest = await findNewestMoment(db)
  const isBehind = newest !== null && Date.parse(newest) - Date.parse(now()) > CLOCK_MS
  if (!isBehind) return finding('clock', 'ok', `it is ${now()}`)
  const text = `it is ${now()} here, but the database knows of ${newest}: set the clock of the machine`
  return finding('clock', 'warning', text)
}

/** Folders and files that belong to another user than the data folder, or that their owner may not write. */
export function permissionFindings({ data }: Config): Finding[] {
  const owner = statSync(data).uid
  const wrong = [...placesIn(data)].filter((path) => !isOwn(path, owner))
  if (wrong.length === 0) return []
  const more = wrong.length > mostNamed ? ` and ${wrong.length - mostNamed} more` : ''
  const named = wrong.slice(0, mostNamed).join(', ')
  const text = `${named}${more} cannot be written by the owner of ${data}: chown -R and chmod -R u+rwX`
  return [finding('permissions', 'failure', text)]
}

/** What the server must be able to write, down to the folders of objects and refs of each repository. */
function* placesIn(data: string): Generator<string> {
  for (const name of namesIn(data)) yield join(data, name)
  for (const folder of ['repositories', 'files']) {
    for (const shard of namesIn(join(data, folder))) yield join(data, folder, shard)
  }
  const root = join(data, 'repositories')
  for (const shard of namesIn(root)) {
    for (const name of namesIn(join(root, shard))) {
      const path = join(root, shard, name)
      yield* [path, join(path, 'objects'), join(path, 'refs')]
    }
  }
}

/** True also for what is gone meanwhile, and for sockets. */
function isOwn(path: string, owner: number): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isFile() && !stats?.isDirectory()) return true
  const needed = stats.isDirectory() ? 0o700 : 0o600
  return stats.uid === owner && (stats.mode & needed) === needed
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
