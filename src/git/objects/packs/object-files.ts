import { readdirSync, readFileSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { byteCache } from '../../../base/byte-cache.ts'
import { budget, mebibyte } from '../../engine/budget.ts'
import type { OpenRepository } from '../../engine/open-repository.ts'
import type { ObjectId, ObjectType } from '../../types.ts'
import { readLoose, readLooseHeader, type UnpackedObject } from './loose-file.ts'
import { idBytesOf } from './object-format.ts'
import { applyDelta, deltaResultSize, readEntry, unpackEntry } from './pack-entry.ts'
import { PackFile } from './pack-file.ts'

/** Where an object stands: in a pack, or in a file of its own. */
type Place =
  | { readonly pack: PackFile; readonly offset: number }
  | { readonly file: string; readonly bytes: number }

const filesKey = Symbol('object files')
/** Chains are fifty deltas long at most as git writes them; libgit2 reads longer ones. */
const longestChain = budget(1000, 250)

/** Objects unpacked lately by pack and offset: mostly the bases of what is read next, which large ones seldom are. */
const recent = byteCache<UnpackedObject>(
  budget(16 * mebibyte, 2 * mebibyte),
  (object) => object.data.length,
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
    this.#idBytes = idBytesOf(repository)
    this.#folders = objectFolders(join(repository, 'objects'), 0)
  }

  /** An object of at most `limit` bytes; undefined when it is larger, missing, or not to be read here. */
  read(id: ObjectId, limit: number): UnpackedObject | undefined {
    return this.#whereItIs(id, (place) => this.#readAt(place, limit))
  }

  #readAt(place: Place, limit: number): UnpackedObject | undefined {
    if ('file' in place) return readLoose(place.file, place.bytes, limit)
    const object = this.#unpack(place.pack, place.offset, limit)
    // One that was unpacked before may be larger than this caller wants.
    return object && object.data.length <= limit ? object : undefined
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
    for (const folder of this.#folders) {
      const file = join(folder, id.slice(0, 2), id.slice(2))
      const stats = statSync(file, { throwIfNoEntry: false })
      // Damage of other kinds is for libgit2 to tell.
      if (stats?.isFile()) return { file, bytes: stats.size }
    }
    return undefined
  }

  /** Whether the packs have changed since they were listed. */
  #rescan(): boolean {
    const folders = this.#folders.map((folder) => join(folder, 'pack'))
    const stamp = folders.map(stampOf).join(' ')
    if (stamp === this.#stamp) return false
    const known = new Map(this.#packs.map((pack) => [pack.path, pack]))
    this.#packs = folders.flatMap((folder) => openPacks(folder, known, this.#idBytes))
    this.#stamp = stamp
    return true
  }

  /** `depth` is the number of deltas that wait for this object. */
  #unpack(pack: PackFile, offset: number, limit: number, depth = 0): UnpackedObject | undefined {
    const key = `${pack.path} ${offset}`
    const known = recent.get(key)
    if (known) return known
    const entry = readEntry(pack, offset)
    if (entry.size > limit || depth > longestChain) return undefined
    const data = unpackEntry(pack, offset, entry)
    const object =
      entry.type === undefined
        ? this.#applied({ pack, base: entry.base, delta: data }, limit, depth)
        : { type: entry.type, data }
    if (object) recent.set(key, object)
    return object
  }

  #applied(
    { pack, base, delta }: { pack: PackFile; base: number | ObjectId; delta: Buffer },
    limit: number,
    depth: number,
  ): UnpackedObject | undefined {
    if (deltaResultSize(delta) > limit) return undefined
    // A base that is named by its id may be in another pack.
    const known =
      typeof base === 'number' ? this.#unpack(pack, base, limit, depth + 1) : this.read(base, limit)
    return known && { type: known.type, data: applyDelta(known.data, delta) }
  }

  #packedHeader(pack: PackFile, offset: number): { type: ObjectType; size: number } | undefined {
    const entry = readEntry(pack, offset)
    if (entry.type !== undefined) return { type: entry.type, size: entry.size }
    // The sizes stand in the delta's first bytes, but a part of it cannot be told from damage.
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
function objectFolders(folder: string, depth: number): string[] {
  let borrowed: string[] = []
  try {
    borrowed = readFileSync(join(folder, 'info/alternates'), 'utf8').split('\n').filter(Boolean)
  } catch {
    return [folder]
  }
  if (depth > 4) return [folder]
  const paths = borrowed.map((path) => (isAbsolute(path) ? path : join(folder, path)))
  return [folder, ...paths.flatMap((path) => objectFolders(path, depth + 1))]
}

function stampOf(folder: string): string {
  const stats = statSync(folder, { bigint: true, throwIfNoEntry: false })
  return stats ? `${stats.ino}.${stats.mtimeNs}` : '-'
}

function openPacks(
  folder: string,
  known: ReadonlyMap<string, PackFile>,
  idBytes: number,
): PackFile[] {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    return []
  }
  return names.flatMap((name) => {
    if (!name.endsWith('.idx') || !names.includes(name.replace(/idx$/, 'pack'))) return []
    const path = join(folder, name)
    try {
      return [known.get(path.replace(/idx$/, 'pack')) ?? new PackFile(path, idBytes)]
    } catch {
      // Of another version or going away: libgit2 reads what we do not.
      return []
    }
  })
}
