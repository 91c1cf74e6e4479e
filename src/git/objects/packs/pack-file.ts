import { bufferBytes, byteCache } from '../../../base/byte-cache.ts'
import { budget, mebibyte } from '../../engine/budget.ts'
import { OpenFile } from './open-file.ts'
import { searchIds } from './sorted-ids.ts'

const fanoutAt = 8
const idsAt = fanoutAt + 1024
/** Offsets from here on stand for a place in the table of eight-byte offsets. */
const largeOffset = 0x80000000

/** Bytes of a pack until the next ones are read. */
const scratch = Buffer.allocUnsafeSlow(64 * 1024)

/** Objects whose ids begin with the same byte. */
interface Bucket {
  readonly ids: Buffer
  readonly offsets: Buffer
}

/** What was asked for once mostly is again. */
const buckets = byteCache<Bucket>(
  budget(48 * mebibyte, 8 * mebibyte),
  ({ ids, offsets }) => 2 * bufferBytes + ids.length + offsets.length,
)

/** A pack and its index (version 2), read where needed. */
export class PackFile {
  readonly path: string
  /** Bytes of an id: 20, or 32 for SHA-256. */
  readonly idBytes: number
  readonly #index: OpenFile
  readonly #fanout: Uint32Array
  #pack: OpenFile | undefined

  /** Throws when the index is not one that we can read. */
  constructor(indexPath: string, idBytes: number) {
    this.idBytes = idBytes
    this.path = indexPath.replace(/\.idx$/, '.pack')
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
    const { ids, offsets } = this.#bucket(id[0] ?? 0)
    const at = searchIds(ids, 0, ids.length / this.idBytes, id)
    if (at < 0) return undefined
    const offset = offsets.readUInt32BE(at * 4)
    return offset < largeOffset ? offset : this.#largeOffset(offset - largeOffset)
  }

  #bucket(first: number): Bucket {
    const key = `${this.path} ${first}`
    const known = buckets.get(key)
    if (known) return known
    const from = this.#fanout[first - 1] ?? 0
    const count = (this.#fanout[first] ?? 0) - from
    const bucket = {
      ids: this.#index.read(count * this.idBytes, idsAt + from * this.idBytes),
      offsets: this.#index.read(count * 4, this.#offsetsAt + from * 4),
    }
    buckets.set(key, bucket)
    return bucket
  }

  get #total(): number {
    return this.#fanout[255] ?? 0
  }

  /** Behind the ids stand as many checksums of four bytes. */
  get #offsetsAt(): number {
    return idsAt + this.#total * (this.idBytes + 4)
  }

  #largeOffset(number: number): number {
    const at = this.#offsetsAt + this.#total * 4 + number * 8
    return Number(this.#index.read(8, at).readBigUInt64BE(0))
  }

  /** The bytes at a position of the pack: `length` of them, or fewer at its end. Not to be kept. */
  bytes(position: number, length: number): Buffer {
    this.#pack ??= new OpenFile(this.path)
    return this.#pack.read(length, position, length > scratch.length ? undefined : scratch)
  }
}
