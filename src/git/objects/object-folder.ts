import { mkdirSync, renameSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { syncFolder, syncUnlessGone } from '../repo-layout.ts'

/** The files of a folder that git writes objects to, by path. */
export interface ObjectFiles {
  readonly loose: readonly string[]
  /** Packs and what belongs to them. */
  readonly others: readonly string[]
}

const looseObject = /\/[0-9a-f]{2}\/[0-9a-f]+$/

/** What lies in a folder of objects. Git leaves the objects of a small push loose (`receive.unpackLimit`). */
export async function listObjectFiles(objects: string): Promise<ObjectFiles> {
  const folders = await readdir(objects)
  const paths = (await Promise.all(folders.map((name) => filesIn(objects, name)))).flat()
  return {
    loose: paths.filter((path) => looseObject.test(path)),
    others: paths.filter((path) => !looseObject.test(path)),
  }
}

async function filesIn(objects: string, folder: string): Promise<string[]> {
  const names = await readdir(join(objects, folder)).catch(() => [])
  return names.map((name) => join(objects, folder, name))
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

const folderAttempts = 100

/**
 * Makes the loose objects of a quarantine those of a repository, but for those with these ids; they are on the disk with
 * their names when this returns.
 */
export async function acceptLooseObjects(
  repository: string,
  quarantine: string,
  except: ReadonlySet<string>,
): Promise<void> {
  await syncLooseObjects(quarantine)
  const objects = join(repository, 'objects')
  const changed = new Set([objects])
  for (const path of (await listObjectFiles(quarantine)).loose) {
    const place = relative(quarantine, path)
    if (except.has(place.replace('/', ''))) continue
    accept(path, join(objects, place))
    changed.add(dirname(join(objects, place)))
  }
  // A folder that is gone again held only what is in a pack by now.
  await Promise.all([...changed].map(syncUnlessGone))
}

/**
 * Maintenance takes folders of objects away that it has emptied, at any moment before there is something new in them: so
 * nothing is waited for between these two calls.
 */
function accept(path: string, place: string): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      renameSync(path, place)
      return
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
      if (!isMissing || attempt === folderAttempts) throw error
      mkdirSync(dirname(place), { recursive: true })
    }
  }
}
