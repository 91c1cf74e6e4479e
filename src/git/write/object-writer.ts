import { createHash } from 'node:crypto'
import { closeSync, existsSync, fsync, openSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflate, deflateSync } from 'node:zlib'
import { ownedName } from '../../base/process-mark.ts'
import { runGit } from '../command.ts'
import { GitError } from '../error.ts'
import { formatIn } from '../objects/packs/object-format.ts'
import { rememberTree } from '../objects/tree-walk.ts'
import { syncFolder } from '../repo-layout.ts'
import type { ObjectFormat, ObjectId, ObjectType } from '../types.ts'
import { commitObject, type NewCommit } from './commit-object.ts'
import { ObjectPlaces } from './object-places.ts'
import { buildPack, type NewObject } from './pack.ts'

const compress = promisify(deflate)
const sync = promisify(fsync)

/** More objects than this go to disk as one pack: two files to sync instead of one for each. */
const mostLoose = 32
/** Smaller objects are packed and written without leaving the thread. */
const smallUpTo = 32 * 1024
const hashedAtOnce = 4 * 1024 * 1024

/** The id that git gives to a few bytes. */
export function hashSmallObject(type: ObjectType, data: Buffer, format: ObjectFormat): ObjectId {
  return createHash(format).update(`${type} ${data.length}\0`).update(data).digest('hex')
}

/** The id that git gives to these bytes. Large ones are hashed in pieces, so that others get a turn. */
async function hashObject(type: ObjectType, data: Buffer, format: ObjectFormat): Promise<ObjectId> {
  const hash = createHash(format).update(`${type} ${data.length}\0`)
  for (let at = 0; at < data.length; at += hashedAtOnce) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve))
    hash.update(data.subarray(at, at + hashedAtOnce))
  }
  return hash.digest('hex')
}

/**
 * Gathers new objects and stores them at once, each on disk before `flush` returns. Faster than a call
 * of libgit2 for each, which syncs them one after the other.
 */
export class ObjectWriter {
  readonly #path: string
  /** The repository's. */
  readonly format: ObjectFormat
  readonly #objects = new Map<ObjectId, NewObject>()

  constructor(path: string) {
    this.#path = path
    this.format = formatIn(path)
  }

  /** Takes an object in and gives its id; nothing is stored yet. */
  async add(type: ObjectType, data: Buffer): Promise<ObjectId> {
    const id = await hashObject(type, data, this.format)
    if (!this.#objects.has(id)) this.#objects.set(id, { id, type, data })
    return id
  }

  /** Stores a commit and what was added before it; gives its id. */
  async flushCommit(commit: NewCommit): Promise<ObjectId> {
    const id = await this.add('commit', commitObject(commit))
    await this.flush()
    return id
  }

  /** Stores what was added; with `check` only after git's own checks, those of a push. */
  async flush(options: { readonly check?: boolean | undefined } = {}): Promise<void> {
    const objects = [...this.#objects.values()]
    this.#objects.clear()
    if (objects.length === 0) return
    if (options.check) await this.#check(objects)
    if (objects.length > mostLoose) await this.#storePack(objects)
    else await this.#storeLoose(objects)
    for (const { id, type, data } of objects) {
      if (type === 'tree') rememberTree(this.#path, id, data)
    }
  }

  async #storeLoose(objects: readonly NewObject[]): Promise<void> {
    const places = new ObjectPlaces(this.#path)
    await Promise.all(objects.map((object) => this.#storeOne(object, places)))
    await places.sync()
  }

  async #storeOne({ id, type, data }: NewObject, places: ObjectPlaces): Promise<void> {
    const root = join(this.#path, 'objects')
    const place = join(id.slice(0, 2), id.slice(2))
    if (existsSync(join(root, place))) return
    const whole = Buffer.concat([Buffer.from(`${type} ${data.length}\0`), data])
    const isSmall = data.length <= smallUpTo
    // Handing a few bytes to another thread takes longer than the work. git's own level for loose objects.
    const bytes = isSmall ? deflateSync(whole, { level: 1 }) : await compress(whole, { level: 1 })
    const draft = draftIn(root)
    try {
      await (isSmall ? writeSmall(draft, bytes) : write(draft, bytes))
      places.put(draft, place)
    } catch (error) {
      rmSync(draft, { force: true })
      throw error
    }
  }

  async #storePack(objects: readonly NewObject[]): Promise<void> {
    await runGit({
      repo: this.#path,
      args: ['index-pack', '--stdin'],
      stdin: await buildPack(objects, this.format),
    })
    await syncFolder(join(this.#path, 'objects', 'pack'))
  }

  /** Has git look at the objects as at those of a push, in a folder of their own. */
  async #check(objects: readonly NewObject[]): Promise<void> {
    const known = join(this.#path, 'objects')
    const quarantine = join(known, ownedName('tmp_objdir-check-'))
    await mkdir(quarantine, { mode: 0o700 })
    try {
      await runGit({
        repo: this.#path,
        args: ['unpack-objects', '-q', '--strict'],
        env: { GIT_OBJECT_DIRECTORY: quarantine, GIT_ALTERNATE_OBJECT_DIRECTORIES: known },
        stdin: await buildPack(objects, this.format),
      })
    } catch (error) {
      if (!(error instanceof GitError) || error.code !== 'failed') throw error
      const said = String(error.detail.stderr ?? '')
      const reason = /error: object [0-9a-f]+: (\S+):/.exec(said)?.[1] ?? said.trim()
      throw new GitError('invalid', `git refuses the content: ${reason}`, { reason: 'fsck' })
    } finally {
      await rm(quarantine, { recursive: true, force: true })
    }
  }
}

/** A file of a folder, under a name that nobody else takes and that clean-up knows as left over. */
function draftIn(folder: string): string {
  return join(folder, ownedName('tmp_obj_'))
}

/** Writes a new file that nobody changes any more, on disk when this returns. */
function write(path: string, bytes: Buffer): Promise<void> {
  return writeFile(path, bytes, { flag: 'wx', mode: 0o444, flush: true })
}

/** As `write`, for a few bytes: only the disk is waited for, everything else takes microseconds. */
async function writeSmall(path: string, bytes: Buffer): Promise<void> {
  const file = openSync(path, 'wx', 0o444)
  try {
    writeFileSync(file, bytes)
    await sync(file)
  } finally {
    closeSync(file)
  }
}
