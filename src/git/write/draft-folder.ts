import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ownedName } from '../../base/process-mark.ts'
import { acceptLooseObjects } from '../objects/object-folder.ts'
import type { ObjectId } from '../types.ts'

/** A folder beside the objects of a repository for what git writes before it is known whether that is wanted. */
export interface DraftFolder {
  readonly path: string
  readonly repository: string
  /** Has a git program write there and read from both. */
  readonly env: Readonly<Record<string, string>>
  /** Makes the loose objects those of the repository, on the disk, but for some that nobody needs. */
  accept(except?: readonly ObjectId[]): Promise<void>
}

/** Makes such a folder for as long as it is used. Clean-up knows the name of one that is left over. */
export async function withDraftFolder<T>(
  repository: string,
  use: (folder: DraftFolder) => Promise<T>,
): Promise<T> {
  const known = join(repository, 'objects')
  const path = join(known, ownedName('tmp_objdir-draft-'))
  mkdirSync(path, { mode: 0o700 })
  try {
    return await use({
      path,
      repository,
      env: { GIT_OBJECT_DIRECTORY: path, GIT_ALTERNATE_OBJECT_DIRECTORIES: known },
      accept: (except = []) => acceptLooseObjects(repository, path, new Set(except)),
    })
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
}
