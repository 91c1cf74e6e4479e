import { LRUCache } from 'lru-cache'
import { byteCache } from '../../../base/byte-cache.ts'
import { budget, mebibyte } from '../../engine/budget.ts'
import { OpenFile } from './open-file.ts'
import { afterAll, beforeAll, searchIds } from './sorted-ids.ts'

const fanoutAt = 8
const idsAt = fanoutAt + 1024
/** Ids on each side of the guess that are read first. */
const around = 96
/** Lookups after which an index is worth holding in memory. */
const worthLoading = 50
/** Bytes that are read of a pack at a time: neighbours in a pack are read one after the other. */
const blockBytes = 8 * 1024
const blocksKept = budget(128, 16)

/** Ids and offsets of the packs that are asked much. */
const tables = byteCache<Table>(
  budget(48 * mebibyte, 8 * mebibyte),
  (table) => table.ids.length + table.offsets.length,
)

interface Table {
  readonly ids: Buffer
  readonly offsets: Buffer
}

/** A pack and its index (version 2), read where needed. */
export class PackFile {
  readonly path: string
  /** Bytes of an id: 20, or 32 for SHA-256. */
  readonly idBytes: number
  readonly #indexPath: string
  readonly #index: OpenFile
  readonly #fanout: Uint32Array
  readonly #blocks = new LRUCache<number, Buffer>({ max: blocksKept })
  #pack: OpenFile | undefined
  #finds = 0

  /** Throws when the index is not one that we can read. */
  constructor(indexPath: string, idBytes: number) {
    this.idBytes = idBytes
    this.path = indexPath.replace(/\.idx$/, '.pack')
    this.#indexPath = indexPath
    this.#index = new OpenFile(indexPath)
    const start = this.#index.read(idsAt, 0)
    // "\377tOc" and version 2.
    if (start.readUInt32BE(0) !== 0xff744f63 || start.readUInt32BE(4) !== 2) {
      throw new Error('an index of another version')
    }
    this.#fanout = Uint32Array.from({ length: 256 }, (_, i) => start.readUInt32BE(fanoutAt + i * 4))
  }

  /** Where an object starts in the pack; undefined when it is not in there. */
  find(id: Buffer): number | undefined {
    const first = id[0] ?? 0
    const from = first === 0 ? 0 : (this.#fanout[first - 1] ?? 0)
    const to = this.#fanout[first] ?? 0
    if (from === to) return undefined
    const table = this.#table()
    const at = table ? searchIds(table.ids, from, to, id) : this.#findPosition(id, from, to)
    if (at < 0) return undefined
    const small = table ? table.offsets.readUInt32BE(at * 4) : this.#offset(at)
    return small < largeOffset ? small : this.#largeOffset(small - largeOffset)
  }

  /** The bytes at a position of the pack: `length` of them, or fewer at its end. Not to be kept. */
  bytes(position: number, length: number): Buffer {
    const number = Math.floor(position / blockBytes)
    const start = position - number * blockBytes
    if (start + length > blockBytes) return this.#open().read(length, position)
    return this.#block(number).subarray(start, start + length)
  }

  #block(number: number): Buffer {
    const known = this.#blocks.get(number)
    if (known) return known
    const block = this.#open().read(blockBytes, number * blockBytes)
    this.#blocks.set(number, block)
    return block
  }

  #open(): OpenFile {
    this.#pack ??= new OpenFile(this.path)
    return this.#pack
  }

  /** The position of an id in the index; below 0 when it is not there. */
  #findPosition(id: Buffer, from: number, to: number): number {
    // Ids are evenly spread, so the next four bytes tell about where one stands.
    const guess = from + Math.floor((id.readUInt32BE(1) / 0x100000000) * (to - from))
    const low = Math.max(from, guess - around)
    const high = Math.min(to, guess + around)
    const at = searchIds(this.#ids(low, high), 0, high - low, id)
    if (at >= 0) return low + at
    // Only at the ends of what was read can it still be elsewhere.
    const elsewhere = (at === beforeAll && low > from) || (at === afterAll && high < to)
    if (!elsewhere) return at
    const whole = searchIds(this.#ids(from, to), 0, to - from, id)
    return whole < 0 ? whole : from + whole
  }

  #ids(from: number, to: number): Buffer {
    return this.#index.read((to - from) * this.idBytes, idsAt + from * this.idBytes)
  }

  /** The whole index, once it is asked often. */
  #table(): Table | undefined {
    this.#finds += 1
    if (this.#finds < worthLoading) return undefined
    const known = tables.get(this.#indexPath)
    if (known) return known
    const total = this.#total
    const table = {
      ids: this.#ids(0, total),
      offsets: this.#index.read(total * 4, idsAt + total * (this.idBytes + 4)),
    }
    if (table.offsets.length < total * 4) throw new Error('a short index')
    tables.set(this.#indexPath, table)
    // Too large to be kept: do not load it for every lookup.
    if (!tables.get(this.#indexPath)) this.#finds = Number.NEGATIVE_INFINITY
    return table
  }

  get #total(): number {
    return this.#fanout[255] ?? 0
  }

  #offset(position: number): number {
    const at = idsAt + this.#total * (this.idBytes + 4) + position * 4
    return this.#index.read(4, at).readUInt32BE(0)
  }

  #largeOffset(number: number): number {
    const at = idsAt + this.#total * (this.idBytes + 8) + number * 8
    return Number(this.#index.read(8, at).readBigUInt64BE(0))
  }
}

/** Offsets from here on stand for a place in the table of eight-byte offsets. */
const largeOffset = 0x80000000
