import { runGit } from '../command.ts'
import { asGitError, bytesOf, oid, typeName } from '../engine/native.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { damaged, GitError } from '../error.ts'
import { assertObjectId } from '../names.ts'
import type { ObjectId, ObjectType } from '../types.ts'
import type { UnpackedObject } from './packs/loose-file.ts'
import { objectFilesOf } from './packs/object-files.ts'

/** Larger objects are unpacked by libgit2, in its own threads. */
const smallObject = 512 * 1024
/** What the main process may stop for: a fraction of a millisecond. */
const smallInProcess = 64 * 1024

/** Reads an object's bytes; runs in an engine process. `not_found` when the repository lacks it. */
export async function readObject(
  repository: OpenRepository,
  id: ObjectId,
): Promise<UnpackedObject> {
  const small = readSmall(repository, assertObjectId(id))
  if (small) return small
  // libgit2 as nodegit builds it knows SHA-1 only.
  repository.assertEngine('a large object')
  if (id.length !== 40) return readByGit(repository, id)
  const odb = await repository.odb()
  const native = oid(id)
  try {
    const object = await odb.read(native)
    // nodegit answers null, not an error, for what the database lacks.
    if (object === null) throw new GitError('not_found', `no object ${id}`)
    return { type: typeName(object.type()), data: bytesOf(object) }
  } catch (error) {
    const known = asGitError(error)
    throw known.code === 'failed' ? damaged(`the object ${id} cannot be read`) : known
  }
}

async function readByGit(repository: OpenRepository, id: ObjectId): Promise<UnpackedObject> {
  const { stdout } = await runGit({
    repo: repository.path,
    args: ['cat-file', '--batch'],
    stdin: `${id}\n`,
    limit: 512 * 1024 * 1024,
  })
  const end = stdout.indexOf(0x0a)
  const [, type = '', size] = stdout.toString('latin1', 0, end).split(' ')
  if (type === 'missing') throw new GitError('not_found', `no object ${id}`)
  // The line is git's own: type and size.
  return { type: type as ObjectType, data: stdout.subarray(end + 1, end + 1 + Number(size)) }
}

/** An object's bytes without waiting; undefined when it is large, missing, damaged or unusual. */
export function readSmall(repository: OpenRepository, id: ObjectId): UnpackedObject | undefined {
  try {
    const limit = repository.where === 'in process' ? smallInProcess : smallObject
    return objectFilesOf(repository).read(id, limit)
  } catch {
    // Damage, or files that changed while we read: libgit2 decides.
    return undefined
  }
}

/**
 * The type and size of an object; `not_found` when the repository lacks it. libgit2's call for this is not bound by
 * nodegit, and reading a large blob only to learn its size would cost twice its memory.
 */
export async function readObjectHeader(
  repository: OpenRepository,
  id: ObjectId,
): Promise<{ readonly type: ObjectType; readonly size: number }> {
  try {
    const header = objectFilesOf(repository).header(id)
    if (header) return { type: header.type, size: header.size }
  } catch (error) {
    throw damaged(`the object ${id} cannot be read (${(error as Error).message})`)
  }
  const { type, data } = await readObject(repository, id)
  return { type, size: data.length }
}

/** Whether an object is there; false also where our own reader can't see it. */
export function isThere(repository: OpenRepository, id: ObjectId): boolean {
  try {
    return objectFilesOf(repository).has(id)
  } catch {
    return false
  }
}

/** Reads an object that must be of one type; `not_found` when it is another. */
export async function readTyped(
  repository: OpenRepository,
  id: ObjectId,
  type: ObjectType,
): Promise<Buffer> {
  const object = await readObject(repository, id)
  if (object.type !== type) {
    throw new GitError('not_found', `${id} is a ${object.type}, not a ${type}`)
  }
  return object.data
}

/** Reads what another object refers to: when it is missing the repository is damaged. */
export async function readLinked(
  repository: OpenRepository,
  id: ObjectId,
  type: ObjectType,
): Promise<Buffer> {
  try {
    return await readTyped(repository, id, type)
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== 'not_found') throw error
    throw damaged(`the ${type} ${id} is missing`)
  }
}
