import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'
import { listObjectFiles } from './object-folder.ts'
import { readLoose } from './packs/loose-file.ts'
import { parseCommit } from './parse-object.ts'

/** Larger commits are for git to read. */
const commitLimit = 1024 * 1024

/** How many bytes a push brings. */
export async function sizeOfQuarantine(quarantine: string): Promise<number> {
  const { loose, others } = await listObjectFiles(quarantine)
  const found = await Promise.all([...loose, ...others].map((path) => stat(path)))
  return found.reduce((sum, { size }) => sum + size, 0)
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

/** What git needs to see the objects of a quarantine, if there is one, beside those of the repository. */
export function quarantineEnvironment(
  repo: Repo,
  quarantine: string | undefined,
): Record<string, string> {
  if (quarantine === undefined) return {}
  return {
    GIT_OBJECT_DIRECTORY: quarantine,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(repo.path, 'objects'),
    GIT_QUARANTINE_PATH: quarantine,
  }
}
