import { byteCache } from '../../base/byte-cache.ts'
import { readBlobs } from '../../git/objects/look-ups.ts'
import type { Repo } from '../../git/repo.ts'
import type { ObjectId } from '../../git/types.ts'
import type { GoModule } from './module.ts'

/** Largest go.mod. */
export const MOST_MOD = 1024 * 1024
/** So much of them is read in one call of the engine. */
const MOST_AT_ONCE = 8 * 1024 * 1024

/** Where the go.mod of a module is. */
export function modPath(module: GoModule): string {
  return module.folder === '' ? 'go.mod' : `${module.folder}/go.mod`
}

/** The module that a go.mod says it is of; empty when it says none. */
export function nameInMod(content: Buffer): string {
  const lines = content
    .toString('utf8')
    .split('\n')
    .map((line) => line.replace(/\/\/.*/, '').trim())
  const [, quoted, plain] = /^module\s+(?:"([^"]+)"|(\S+))$/.exec(lines.find(Boolean) ?? '') ?? []
  return quoted ?? plain ?? ''
}

/** What go.mod files say, by the ids of their blobs: these never change, and most tags are asked for again. */
const names = byteCache<string>(2 * 1024 * 1024, (name) => name.length)

/** Those of these blobs that are a go.mod of a module. */
export async function blobsOfModule(
  repo: Repo,
  module: GoModule,
  blobs: readonly (ObjectId | undefined)[],
): Promise<ReadonlySet<ObjectId | undefined>> {
  const ids = [...new Set(blobs.filter((blob) => blob !== undefined))]
  const known = ids.map((id) => names.get(id))
  const unread = ids.filter((_, at) => known[at] === undefined)
  const read = await readNames(repo, unread)
  return new Set(ids.filter((id, at) => (known[at] ?? read.get(id)) === module.name))
}

async function readNames(
  repo: Repo,
  ids: readonly ObjectId[],
): Promise<ReadonlyMap<ObjectId, string>> {
  const read = new Map<ObjectId, string>()
  while (read.size < ids.length) {
    const rest = ids.slice(read.size)
    const limits = { limit: MOST_MOD, bytes: MOST_AT_ONCE }
    const contents = await readBlobs(repo, { ids: rest, ...limits })
    for (const [at, id] of rest.slice(0, contents.length).entries()) {
      const content = contents[at]
      const name = content === undefined ? '' : nameInMod(content)
      read.set(id, name)
      names.set(id, name)
    }
  }
  return read
}
