import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bufferBytes, byteCache } from '../../../base/byte-cache.ts'
import { budget, mebibyte } from '../../engine/budget.ts'
import type { OpenRepository } from '../../engine/open-repository.ts'
import type { ObjectId, ObjectType } from '../../types.ts'
import { readLoose, readLooseHeader, type UnpackedObject } from './loose-file.ts'
import { formatIn } from './object-format.ts'
import { applyDelta, deltaResultSize, readEntry, unpackEntry } from './pack-entry.ts'
import { PackFile } from './pack-file.ts'

/** Where an object stands: in a pack, or in a file of its own. */
type Place = { readonly pack: PackFile; readonly offset: number } | { readonly file: string }

const filesKey = Symbol('object files')
/** Chains are fifty deltas long at most as git writes them; libgit2 reads longer ones. */
const longestChain = budget(1000, 250)

/** Objects unpacked lately by pack and offset: mostly the bases of what is read next, which large ones seldom are. */
const recent = byteCache<UnpackedObject>(
  budget(16 * mebibyte, 2 * mebibyte),
  (object) => bufferBytes + object.data.length,
  256 * 1024,
)

/**
 * Reads objects from a repository's files in this thread. A read through libgit2 costs two switches
 * between threads, several times the work itself, and walks read tens of thousands of small objects.
 */
export class ObjectFiles {
  readonly #folders: readonly string[]
  readonly #idBytes: number
  #stamp = ''
  #packs: readonly PackFile[] = []

  constructor(repository: string) {
    this.#idBytes = formatIn(repository) === 'sha256' ? 32 : 20
    this.#folders = objectFolders(join(repository, 'objects'))
  }

  /** An object of at most `limit` bytes; undefined when it is larger, missing, or not to be read here. */
  read(id: ObjectId, limit: number): UnpackedObject | undefined {
    return this.#whereItIs(id, (place) =>
      'file' in place
        ? readLoose(place.file, limit)
        : this.#unpack(place.pack, place.offset, limit),
    )
  }

  /** Whether an object is there, of whatever size. */
  has(id: ObjectId): boolean {
    return this.#locate(id) !== undefined
  }

  /** An object's type and size without its content. Throws when its files are damaged. */
  header(id: ObjectId): { type: ObjectType; size: number } | undefined {
    return this.#whereItIs(id, (place) =>
      'file' in place ? readLooseHeader(place.file) : this.#packedHeader(place.pack, place.offset),
    )
  }

  /** What `read` gives of an object's place; undefined when the object is missing. */
  #whereItIs<T>(id: ObjectId, read: (place: Place) => T | undefined): T | undefined {
    const place = this.#locate(id)
    try {
      return place && read(place)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      // Upkeep removes a file after its objects have come into another pack.
      this.#rescan()
      const other = this.#locate(id)
      return other && read(other)
    }
  }

  #locate(id: ObjectId): Place | undefined {
    const bytes = Buffer.from(id, 'hex')
    return (
      findIn(this.#packs, bytes) ??
      this.#findLoose(id) ??
      // New packs are looked for only now: what was found in an open one stays readable.
      (this.#rescan() ? findIn(this.#packs, bytes) : undefined)
    )
  }

  #findLoose(id: ObjectId): Place | undefined {
    const files = this.#folders.map((folder) => join(folder, id.slice(0, 2), id.slice(2)))
    const file = files.find((path) => existsSync(path))
    return file === undefined ? undefined : { file }
  }

  /** Whether the packs have changed since they were listed. */
  #rescan(): boolean {
    const folders = this.#folders.map((folder) => join(folder, 'pack'))
    const stamp = folders.map(stampOf).join(' ')
    if (stamp === this.#stamp) return false
    this.#packs = folders.flatMap((folder) => openPacks(folder, this.#idBytes))
    this.#stamp = stamp
    return true
  }

  /** `depth` is the number of deltas that wait for this object. */
  #unpack(pack: PackFile, offset: number, limit: number, depth = 0): UnpackedObject | undefined {
    const key = `${pack.path} ${offset}`
    const known = recent.get(key)
    // One that was unpacked before may be larger than this caller wants.
    if (known) return known.data.length <= limit ? known : undefined
    const entry = readEntry(pack, offset)
    if (entry.size > limit || depth > longestChain) return undefined
    const data = unpackEntry(pack, offset, entry)
    let object: UnpackedObject | undefined
    if (entry.type !== undefined) object = { type: entry.type, data }
    else if (deltaResultSize(data) <= limit) {
      const { base } = entry
      // One that is named by its id may be in another pack.
      const known =
        typeof base === 'number'
          ? this.#unpack(pack, base, limit, depth + 1)
          : this.read(base, limit)
      object = known && { type: known.type, data: applyDelta(known.data, data) }
    }
    if (object) recent.set(key, object)
    return object
  }

  #packedHeader(pack: PackFile, offset: number): { type: ObjectType; size: number } | undefined {
    const entry = readEntry(pack, offset)
    if (entry.type !== undefined) return { type: entry.type, size: entry.size }
    // The sizes stand in the delta's first bytes, but a part of it cannot be distinguished from damage.
    const size = deltaResultSize(unpackEntry(pack, offset, entry))
    let base = entry.base
    for (let depth = 0; depth < longestChain && typeof base === 'number'; depth += 1) {
      const at = readEntry(pack, base)
      if (at.type !== undefined) return { type: at.type, size }
      base = at.base
    }
    const type = typeof base === 'string' ? this.header(base)?.type : undefined
    return type && { type, size }
  }
}

/** The object files of a repository in an engine process. */
export function objectFilesOf(repository: OpenRepository): ObjectFiles {
  return repository.keep(filesKey, () => new ObjectFiles(repository.path))
}

function findIn(packs: readonly PackFile[], id: Buffer): Place | undefined {
  for (const pack of packs) {
    const offset = pack.find(id)
    if (offset !== undefined) return { pack, offset }
  }
  return undefined
}

/** The object folder and those it borrows from. */
function objectFolders(folder: string, depth = 0): string[] {
  const list = join(folder, 'info/alternates')
  const text = depth < 5 && existsSync(list) ? readFileSync(list, 'utf8') : ''
  const borrowed = text.split('\n').filter(Boolean)
  return [folder, ...borrowed.flatMap((path) => objectFolders(resolve(folder, path), depth + 1))]
}

function stampOf(folder: string): string {
  const stats = statSync(folder, { bigint: true, throwIfNoEntry: false })
  return stats ? `${stats.ino}.${stats.mtimeNs}` : '-'
}

function openPacks(folder: string, idBytes: number): PackFile[] {
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names.flatMap((name) => {
    if (!name.endsWith('.idx') || !names.includes(name.replace(/idx$/, 'pack'))) return []
    try {
      return [new PackFile(join(folder, name), idBytes)]
    } catch {
      // Of another version or going away: libgit2 reads what we do not.
      return []
    }
  })
}
