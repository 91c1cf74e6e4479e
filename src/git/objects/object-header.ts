import type { OpenRepository } from '../engine/open-repository.ts'
import { GitError } from '../error.ts'
import type { ObjectId, ObjectType } from '../types.ts'
import { readObject } from './objects.ts'
import { objectFilesOf } from './packs/object-files.ts'

/*
 * Type and size of an object without its content: libgit2's call for this is not bound by nodegit, and
 * reading a large blob only to learn its size would cost twice its memory.
 */

export interface ObjectHeader {
  readonly type: ObjectType
  readonly size: number
}

/** The type and size of an object; `not_found` when the repository lacks it. */
export async function readObjectHeader(
  repository: OpenRepository,
  id: ObjectId,
): Promise<ObjectHeader> {
  try {
    const header = objectFilesOf(repository).header(id)
    if (header) return { type: header.type, size: header.size }
  } catch (error) {
    throw new GitError('failed', `object ${id} is damaged: ${(error as Error).message}`)
  }
  const object = await readObject(repository, id)
  return { type: object.type, size: object.data.length }
}
