import {
  closeSync,
  fsync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { OpenRepository } from '../engine/open-repository.ts'
import { GitError } from '../error.ts'
import { clip } from '../names.ts'
import { readObjectHeader, readTyped } from '../objects/objects.ts'
import { syncUnlessGone } from '../repo-layout.ts'
import { noObject, type RefUpdate } from '../types.ts'
import { type RefTable, refsOf } from './ref-table.ts'

const sync = promisify(fsync)
/** Others take folders away that have become empty, also one that was just made. */
const folderAttempts = 100

/**
 * Moves or makes one ref, if it still holds what the caller saw, as git does it: under `<ref>.lock`, which git and
 * libgit2 heed too, with the file and its name on the disk at the end. libgit2 itself would have all moves in one
 * repository wait for each other's turn at the disk.
 */
export async function moveLooseRef(
  repository: OpenRepository,
  { name, oldId, newId }: RefUpdate,
): Promise<void> {
  // A branch holds a commit, and one that can be read: its pack may be damaged.
  if (name.startsWith('refs/heads/')) await readTyped(repository, newId, 'commit')
  else await readObjectHeader(repository, newId)
  const path = join(repository.path, name)
  const { file, folders } = takeLock(path, name)
  try {
    const refs = refsOf(repository)
    assertHolds(refs, name, oldId)
    if (oldId === noObject) assertRoom(refs, name)
    writeSync(file, `${newId}\n`)
    await sync(file)
    place(path, name)
  } catch (error) {
    rmSync(lockOf(path), { force: true })
    throw error
  } finally {
    // Not sooner: a lock that nobody has open is one that a killed process has left behind.
    closeSync(file)
  }
  // git removes a folder that it has emptied, once the refs of it are packed and on the disk.
  await Promise.all(folders.map(syncUnlessGone))
}

const lockOf = (path: string) => `${path}.lock`

/** The lock of a ref, open to be written, and the folders whose names will have changed. */
function takeLock(path: string, name: string): { file: number; folders: string[] } {
  const folders = new Set([dirname(path)])
  for (let attempt = 1; ; attempt += 1) {
    const file = tryLock(path, name)
    if (file !== undefined) return { file, folders: [...folders] }
    if (attempt === folderAttempts) throw new GitError('locked', `${clip(name)} has no folder`)
    for (const folder of makeFolders(dirname(path), name)) folders.add(folder)
  }
}

/** Undefined when its folder is missing. */
function tryLock(path: string, name: string): number | undefined {
  try {
    return openSync(lockOf(path), 'wx', 0o666)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EEXIST') throw new GitError('locked', `${clip(name)} is locked`, about(name))
    if (code === 'ENOTDIR') throw inTheWay(name)
    if (code === 'ENOENT') return undefined
    throw error
  }
}

/** Makes a folder with those above it, and gives all in which there is a new name. */
function makeFolders(folder: string, name: string): string[] {
  try {
    const first = mkdirSync(folder, { recursive: true })
    const changed: string[] = []
    for (let at = folder; first !== undefined && at.length >= first.length; at = dirname(at)) {
      changed.push(dirname(at))
    }
    return changed
  } catch (error) {
    if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOTDIR') throw inTheWay(name)
    throw error
  }
}

function assertHolds(refs: RefTable, name: string, oldId: string): void {
  if ((refs.read(name) ?? noObject) === oldId) return
  const code = oldId === noObject ? 'exists' : 'stale'
  throw new GitError(code, `${clip(name)} has changed meanwhile`, about(name))
}

/** A ref is a file, or a folder of others, and never both. */
function assertRoom(refs: RefTable, name: string): void {
  const parts = name.split('/')
  const above = parts.slice(3).map((_, i) => parts.slice(0, i + 3).join('/'))
  const isFolder = above.some((folder) => refs.read(folder) !== undefined)
  if (isFolder || refs.hasBelow(`${name}/`)) throw inTheWay(name)
}

/** Gives the lock the name of the ref. Folders of refs that are gone may stand there, without anything in them. */
function place(path: string, name: string): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      renameSync(lockOf(path), path)
      return
    } catch (error) {
      if (codeOf(error) !== 'EISDIR' || attempt === folderAttempts) throw error
      if (!removeEmpty(path)) throw inTheWay(name)
    }
  }
}

/** Removes a folder that holds nothing but such folders; false when there is something in it. */
function removeEmpty(folder: string): boolean {
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (!entry.isDirectory() || !removeEmpty(join(folder, entry.name))) return false
    }
    rmdirSync(folder)
    return true
  } catch (error) {
    // Somebody else was faster, or has put something into it.
    return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
  }
}

function inTheWay(name: string): GitError {
  return new GitError('conflict', `another ref is in the way of ${clip(name)}`, about(name))
}

const about = (name: string) => ({ ref: clip(name) })

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
