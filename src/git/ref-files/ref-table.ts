import { type BigIntStats, type Dirent, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { assertRepository } from '../damage.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { damaged } from '../error.ts'
import { isObjectId, isRefName } from '../names.ts'
import type { ObjectId, Ref } from '../types.ts'
import { PackedRefs } from './packed-refs.ts'

interface Packed {
  readonly stamp: string
  readonly refs: PackedRefs
}

interface LooseFolder {
  readonly stamp: string
  /** The folder had rested long enough when it was read, so its stamp vouches for it. */
  readonly isStable: boolean
  readonly files: ReadonlyMap<string, string>
  readonly folders: readonly string[]
}

/** File systems stamp changes with the coarse clock of the kernel: within this a change may hide. */
const restingTime = 1_000_000_000n
/** Loose refs, of which each is a file to read; and bytes of packed ones, some seventy each. */
const shortList = 50
const shortPacked = 32 * 1024
const symbolic = 'ref: '
const nothing = new PackedRefs(Buffer.alloc(0))

/** The refs of one repository, read from `packed-refs` and loose files (libgit2's list leaks). */
export class RefTable {
  readonly #path: string
  #packed: Packed = { stamp: 'none', refs: nothing }
  readonly #folders = new Map<string, LooseFolder>()

  constructor(path: string) {
    this.#path = path
  }

  /** What a ref holds after following symbolic ones; undefined when there is none. */
  find(name: string): ObjectId | undefined {
    const end = this.follow(name)
    const value = end === undefined ? undefined : this.read(end)
    if (end !== undefined && value !== undefined && !isObjectId(value)) throw broken(end, value)
    return value
  }

  /** The name of the ref that `name` finally points at, whether that exists or not. */
  follow(name: string): string | undefined {
    let at = name
    for (let depth = 0; depth < 5; depth += 1) {
      const value = this.read(at)
      if (value === undefined || !value.startsWith(symbolic)) return at
      at = value.slice(symbolic.length)
      if (!isRefName(at)) return undefined
    }
    return undefined
  }

  /** All refs whose name starts with `prefix` (which ends with a slash), sorted by bytes. */
  list(prefix = 'refs/'): readonly Ref[] {
    // Loose before packed: `git pack-refs` moves refs in that direction.
    const loose = new Map<string, ObjectId | undefined>()
    this.#collect(prefix.slice(0, -1), loose)
    const packed = this.#readPacked().list(prefix)
    if (loose.size === 0) return packed
    const merged = packed.filter((ref) => !loose.has(ref.name))
    // A broken ref is left out, as for-each-ref does, and hides what was packed of it.
    for (const [name, id] of loose) if (id !== undefined) merged.push({ name, id })
    return merged.sort((a, b) => compareNames(a.name, b.name))
  }

  /** The refs below `prefix`, which ends with a slash, that hold neither an object nor a name, with what is wrong. */
  listBroken(prefix = 'refs/'): readonly { readonly name: string; readonly what: string }[] {
    const loose = new Map<string, ObjectId | undefined>()
    this.#collect(prefix.slice(0, -1), loose)
    const names = [...loose.keys()].filter((name) => loose.get(name) === undefined)
    return names.flatMap((name) =>
      this.isBroken(name) ? [{ name, what: brokenText(name, this.read(name)) }] : [],
    )
  }

  /** Whether a ref is there and holds neither an object nor the name of another, which may still be to come. */
  isBroken(name: string): boolean {
    const value = this.read(name)
    return value !== undefined && !isObjectId(value) && !value.startsWith(symbolic)
  }

  /** Throws `damaged` when a ref below `prefix` is broken, which a list would leave out. */
  assertWhole(prefix: string): void {
    const [first] = this.listBroken(prefix)
    if (first) throw damaged(first.what)
  }

  /** Whether there are refs whose name starts with `prefix`, which ends with a slash. */
  hasBelow(prefix: string): boolean {
    return this.#readPacked().hasBelow(prefix) || this.#hasFile(prefix.slice(0, -1))
  }

  #hasFile(folder: string): boolean {
    return entriesOf(join(this.#path, folder)).some((entry) =>
      entry.isDirectory()
        ? this.#hasFile(`${folder}/${entry.name}`)
        : !entry.name.endsWith('.lock'),
    )
  }

  /** Whether a list is so short that reading it takes less than asking another process for it. */
  isShort(prefix: string): boolean {
    const packed = statSync(join(this.#path, 'packed-refs'), { throwIfNoEntry: false })
    if ((packed?.size ?? 0) > shortPacked) return false
    return this.#countFiles(prefix.slice(0, -1), shortList) <= shortList
  }

  /** How many files there are below a folder; stops counting soon after `most`. */
  #countFiles(folder: string, most: number): number {
    let count = 0
    for (const entry of entriesOf(join(this.#path, folder))) {
      if (count > most) return count
      const below = entry.isDirectory()
      count += below ? 1 + this.#countFiles(`${folder}/${entry.name}`, most - count) : 1
    }
    return count
  }

  /** What a ref holds itself, the name of another behind `ref: ` as it stands; undefined when there is none. */
  read(name: string): string | undefined {
    // The name becomes a path: nothing but a ref name may.
    if (name !== 'HEAD' && !isRefName(name)) return undefined
    return this.#readLoose(name) ?? this.#readPacked().find(name)
  }

  #readLoose(name: string): string | undefined {
    const path = join(this.#path, name)
    try {
      // Most refs are packed, and a look costs less than a read that fails.
      if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return undefined
      return readFileSync(path, 'utf8').trimEnd()
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return undefined
      throw damaged(`the ref ${name} cannot be read (${code})`)
    }
  }

  #readPacked(): PackedRefs {
    const file = join(this.#path, 'packed-refs')
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false })
    if (!stats) assertRepository(this.#path)
    const stamp = stampOf(stats)
    if (stamp !== this.#packed.stamp) {
      const refs = stats ? new PackedRefs(readFileSync(file)) : nothing
      this.#packed = { stamp, refs }
    }
    return this.#packed.refs
  }

  #collect(folder: string, into: Map<string, ObjectId | undefined>): void {
    const known = this.#readFolder(folder)
    if (!known) return
    for (const [name, value] of known.files) {
      const full = `${folder}/${name}`
      const end = value.startsWith(symbolic) ? this.follow(full) : undefined
      const id = end === undefined ? value : this.read(end)
      into.set(full, id !== undefined && isObjectId(id) ? id : undefined)
    }
    for (const name of known.folders) this.#collect(`${folder}/${name}`, into)
  }

  #readFolder(folder: string): LooseFolder | undefined {
    const path = join(this.#path, folder)
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (!stats?.isDirectory()) {
      this.#folders.delete(folder)
      return undefined
    }
    const stamp = stampOf(stats)
    const known = this.#folders.get(folder)
    if (known?.isStable && known.stamp === stamp) return known
    const now = BigInt(Date.now()) * 1_000_000n
    const files = new Map<string, string>()
    const folders: string[] = []
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (entry.isDirectory()) folders.push(entry.name)
      else if (!entry.name.endsWith('.lock')) {
        const value = this.#readLoose(`${folder}/${entry.name}`)
        if (value !== undefined) files.set(entry.name, value)
      }
    }
    const read = { stamp, isStable: now - stats.mtimeNs > restingTime, files, folders }
    this.#folders.set(folder, read)
    return read
  }
}

/** A power cut leaves files without bytes, or full of zeros. */
function brokenText(name: string, value: string | undefined): string {
  return `the ref ${name} is ${value === '' ? 'empty' : 'unreadable'}`
}

const broken = (name: string, value: string) => damaged(brokenText(name, value))

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

const tableKey = Symbol('refs')

/** The ref table of a repository in an engine process. */
export function refsOf(repository: OpenRepository): RefTable {
  return repository.keep(tableKey, () => new RefTable(repository.path))
}

function stampOf(stats: BigIntStats | undefined): string {
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` : 'none'
}

/**
 * Order by code units, which is git's order by bytes except for characters beyond the basic plane;
 * for those the bytes are compared.
 */
export function compareNames(a: string, b: string): number {
  if (a === b) return 0
  if (!beyondBasicPlane.test(a) && !beyondBasicPlane.test(b)) return a < b ? -1 : 1
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

const beyondBasicPlane = /[\ud800-\udfff]/
