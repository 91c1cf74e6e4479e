import { createRequire } from 'node:module'
import { diskFullText, saysDiskFull } from '../../base/full-disk.ts'
import { GitError, type GitErrorCode } from '../error.ts'
import { assertObjectId } from '../names.ts'
import { type ObjectId, type ObjectType, objectTypes } from '../types.ts'

/*
 * The part of nodegit that we use, declared by hand: the published types are wrong, and some calls
 * end the process. Never declared here, so never called: Merge.bases, Revparse.*, Tree.createUpdated,
 * Reference.list, Tag.list, Repository.cleanup, Libgit2.opts(GET_CACHED_MEMORY), Blame.*, Revwalk (one walk used twice
 * at a time crashes; our commit-graph walk replaces it).
 */

/** An object id in native memory. A plain object in its place ends the process: only `oid()` makes one. */
export interface Oid {
  tostrS(): string
}

export interface NativeOdbObject {
  data(): { toBuffer(size: number): Buffer }
  size(): number
  type(): number
}

export interface NativeOdb {
  read(id: Oid): Promise<NativeOdbObject | null>
  existsPrefix(shortId: Oid, length: number): Promise<Oid>
  /** Text alone: a string is all that it takes. */
  write(text: string, bytes: number, type: number): Promise<Oid>
}

export interface NativeRepository {
  odb(): Promise<NativeOdb>
}

interface Nodegit {
  readonly Repository: { openBare(path: string): Promise<NativeRepository> }
  readonly Oid: { fromString(hex: string): Oid }
  readonly Libgit2: { opts(option: number, value: number): unknown; readonly OPT: Options }
}

interface Options {
  readonly ENABLE_STRICT_HASH_VERIFICATION: number
  readonly ENABLE_FSYNC_GITDIR: number
  readonly ENABLE_STRICT_OBJECT_CREATION: number
  readonly SET_OWNER_VALIDATION: number
  readonly ENABLE_CACHING: number
  readonly SET_MWINDOW_SIZE: number
  readonly SET_MWINDOW_MAPPED_LIMIT: number
}

let loaded: Nodegit | undefined

/**
 * nodegit itself, loaded at the first call: only engine processes (and tests) get here. Files of
 * this room cast the result to their own declaration of what they use.
 */
export function nodegit(): Nodegit {
  loaded ??= load()
  return loaded
}

function load(): Nodegit {
  // nodegit is CommonJS without types; the cast is the one place where our declaration meets it.
  const module = createRequire(import.meta.url)('nodegit') as Nodegit
  const { opts, OPT } = module.Libgit2
  // git does not hash again on reading either; off, tree walks are twice as fast.
  opts(OPT.ENABLE_STRICT_HASH_VERIFICATION, 0)
  // What is acknowledged outlasts a power failure.
  opts(OPT.ENABLE_FSYNC_GITDIR, 1)
  // What a tree names was read or stored just before.
  opts(OPT.ENABLE_STRICT_OBJECT_CREATION, 0)
  // The data folder may belong to another user in a container, as for `safe.directory`.
  opts(OPT.SET_OWNER_VALIDATION, 0)
  // Packs count as memory while they are mapped; small windows are as fast as the large default.
  opts(OPT.SET_MWINDOW_SIZE, 4 * 1024 * 1024)
  opts(OPT.SET_MWINDOW_MAPPED_LIMIT, 96 * 1024 * 1024)
  return module
}

/**
 * Has libgit2 keep the small objects that it reads, as it does from the start, or not. What is read while it does not empties
 * the cache of its repository: by itself libgit2 forgets nothing below 256 MB. `Repository.cleanup` would take the object
 * database away from calls that go on meanwhile.
 */
export function keepObjects(isKept: boolean): void {
  loaded?.Libgit2.opts(loaded.Libgit2.OPT.ENABLE_CACHING, isKept ? 1 : 0)
}

let warned = false

/** The bytes of an object, copied out of native memory. */
export function bytesOf(object: NativeOdbObject): Buffer {
  // A length beyond the object's own would read foreign memory.
  if (warned) return object.data().toBuffer(object.size())
  // nodegit uses the old `Buffer()`: node warns once, and that once is kept out of the log.
  warned = true
  const before = process.noDeprecation
  process.noDeprecation = true
  try {
    return object.data().toBuffer(object.size())
  } finally {
    process.noDeprecation = before ?? false
  }
}

/** A native id from hex. Short ids are refused: libgit2 pads them with zeros. */
export function oid(hex: ObjectId): Oid {
  if (assertObjectId(hex).length !== 40) {
    throw new GitError('invalid', 'only SHA-1 object ids can be read')
  }
  return nodegit().Oid.fromString(hex)
}

/** The start of an id, padded, for the calls that take a length with it. */
export function oidPrefix(digits: string): Oid {
  if (!/^[0-9a-f]{4,40}$/.test(digits)) throw new GitError('invalid', 'not the start of an id')
  return nodegit().Oid.fromString(digits.padEnd(40, '0'))
}

/** Opens a bare repository. */
export async function openNative(path: string): Promise<NativeRepository> {
  try {
    return await nodegit().Repository.openBare(path)
  } catch (error) {
    throw asGitError(error)
  }
}

/** The object's type, or an error for what is none. */
export function typeName(type: number): ObjectType {
  const name = objectTypes[type]
  if (name === undefined) throw new GitError('failed', `object of unknown type ${type}`)
  return name
}

const codes: Readonly<Record<number, GitErrorCode>> = {
  [-3]: 'not_found',
  [-5]: 'ambiguous',
}

/** A native error as ours; errors that are ours already stay as they are. */
export function asGitError(error: unknown): GitError {
  if (error instanceof GitError) return error
  const { errno, message } = (error ?? {}) as { errno?: unknown; message?: unknown }
  const number = typeof errno === 'number' ? errno : 0
  if (saysDiskFull(String(message))) return new GitError('full', diskFullText)
  return new GitError(codes[number] ?? 'failed', String(message ?? error), { errno: number })
}
