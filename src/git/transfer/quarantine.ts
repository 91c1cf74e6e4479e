import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { readLoose } from '../objects/packs/loose-file.ts'
import { parseCommit } from '../objects/parse-object.ts'
import type { Repo } from '../repo.ts'
import { syncFolder } from '../repo-layout.ts'
import type { ObjectId } from '../types.ts'
import { ObjectPlaces } from '../write/object-places.ts'

/** The files where a push keeps its objects until it is accepted, by path. */
export interface ObjectFiles {
  readonly loose: readonly string[]
  /** Packs and what belongs to them. */
  readonly others: readonly string[]
}

/** Larger commits are for git to read. */
const commitLimit = 1024 * 1024
const looseObject = /\/[0-9a-f]{2}\/[0-9a-f]+$/

/** What lies in a quarantine. Git leaves the objects of a small push loose (`receive.unpackLimit`). */
export async function listObjectFiles(quarantine: string): Promise<ObjectFiles> {
  const folders = await readdir(quarantine)
  const paths = (await Promise.all(folders.map((name) => filesIn(quarantine, name)))).flat()
  return {
    loose: paths.filter((path) => looseObject.test(path)),
    others: paths.filter((path) => !looseObject.test(path)),
  }
}

async function filesIn(quarantine: string, folder: string): Promise<string[]> {
  const names = await readdir(join(quarantine, folder)).catch(() => [])
  return names.map((name) => join(quarantine, folder, name))
}

/**
 * Brings the loose objects of a quarantine onto the disk, several at a time, where git would wait for one after the
 * other. What lies in packs git has brought there itself.
 */
export async function syncLooseObjects(quarantine: string): Promise<void> {
  const { loose } = await listObjectFiles(quarantine)
  // Syncs a file as it does a folder.
  await Promise.all(loose.map(syncFolder))
}

/** Makes the loose objects of a quarantine those of the repository. They are on the disk already. */
export async function acceptLooseObjects(repo: Repo, quarantine: string): Promise<void> {
  const { loose } = await listObjectFiles(quarantine)
  const places = new ObjectPlaces(repo.path)
  for (const path of loose) places.put(path, relative(quarantine, path))
  await places.sync()
}

/**
 * Whether the loose commits of a quarantine lead from `descendant` back to `ancestor`, as those of most pushes do.
 * False says nothing: the way may go on in a pack, or among what the repository has already.
 */
export function leadsBack(quarantine: string, ancestor: ObjectId, descendant: ObjectId): boolean {
  const waiting = [descendant]
  const seen = new Set(waiting)
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    for (const parent of parentsOf(quarantine, id)) {
      if (parent === ancestor) return true
      if (seen.has(parent)) continue
      seen.add(parent)
      waiting.push(parent)
    }
  }
  return false
}

/** None for what is no loose commit here. */
function parentsOf(quarantine: string, id: ObjectId): readonly ObjectId[] {
  const path = join(quarantine, id.slice(0, 2), id.slice(2))
  try {
    const object = readLoose(path, commitLimit)
    return object?.type === 'commit' ? parseCommit(id, object.data).parentIds : []
  } catch {
    return []
  }
}
