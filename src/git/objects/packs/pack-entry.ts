import { constants, inflateSync } from 'node:zlib'
import { type ObjectId, type ObjectType, objectTypes } from '../../types.ts'
import type { PackFile } from './pack-file.ts'

/** What stands at an offset of a pack, not yet unpacked. */
export type PackEntry = {
  /** Bytes of the object, or of the delta. */
  readonly size: number
  /** Bytes before the compressed data. */
  readonly header: number
} & (
  | { readonly type: ObjectType }
  /** A delta: where its base starts, or the id of its base. */
  | { readonly type: undefined; readonly base: number | ObjectId }
)

const offsetDelta = 6
const referenceDelta = 7
const mostHeader = 64

/** Reads the header of the entry at an offset. Throws for what is none. */
export function readEntry(pack: PackFile, offset: number): PackEntry {
  return parseEntry(pack.bytes(offset, mostHeader), offset, pack.idBytes)
}

function parseEntry(bytes: Buffer, offset: number, idBytes: number): PackEntry {
  const first = bytes[0] ?? 0
  const more = first & 0x80 ? readSize(bytes, 1) : { value: 0, next: 1 }
  const size = (first & 15) + more.value * 16
  const kind = (first >> 4) & 7
  let at = more.next
  const type = objectTypes[kind]
  if (type !== undefined) return { type, size, header: at }
  if (kind === referenceDelta) {
    const base = bytes.toString('hex', at, at + idBytes)
    return { type, size, base, header: at + idBytes }
  }
  if (kind !== offsetDelta) throw new Error('no entry of a pack')
  let back = -1
  for (let byte = 0x80; byte & 0x80; at += 1) {
    byte = bytes[at] ?? 0
    back = (back + 1) * 128 + (byte & 0x7f)
  }
  if (back <= 0 || back > offset) throw new Error('a delta without a base')
  return { type, size, base: offset - back, header: at }
}

/** The data of an entry, unpacked: the object's bytes or those of the delta. */
export function unpackEntry(pack: PackFile, offset: number, entry: PackEntry): Buffer {
  // The most that deflate makes of so many bytes, stored blocks and all.
  const most = entry.size + (entry.size >> 12) * 5 + 64
  const data = inflatePart(pack.bytes(offset + entry.header, most), entry.size)
  if (data.length !== entry.size) throw new Error('an entry of another size')
  return data
}

/** Unpacks data that is followed by something else. */
export function inflatePart(compressed: Buffer, size: number): Buffer {
  return inflateSync(compressed, {
    finishFlush: constants.Z_SYNC_FLUSH,
    chunkSize: Math.max(size + 16, 64),
  })
}

/** The size of what a delta makes, from the delta's first bytes. */
export function deltaResultSize(delta: Buffer): number {
  const base = readSize(delta, 0)
  return readSize(delta, base.next).value
}

function readSize(bytes: Buffer, from: number): { value: number; next: number } {
  let at = from
  let value = 0
  let factor = 1
  for (let byte = 0x80; byte & 0x80; at += 1) {
    byte = bytes[at] ?? 0
    value += (byte & 0x7f) * factor
    factor *= 128
  }
  return { value, next: at }
}

/** Applies a delta (gitformat-pack(5)). Throws when it does not fit its base. */
export function applyDelta(base: Buffer, delta: Buffer): Buffer {
  const from = readSize(delta, 0)
  const to = readSize(delta, from.next)
  if (from.value !== base.length) throw new Error('a delta for another base')
  const result = Buffer.allocUnsafeSlow(to.value)
  let written = 0
  let at = to.next
  while (at < delta.length) {
    const command = delta[at] ?? 0
    at += 1
    if (command & 0x80) {
      const { offset, size } = readCopy(command, () => delta[at++] ?? 0)
      if (offset + size > base.length || written + size > result.length) {
        throw new Error('a delta beyond its base')
      }
      written += base.copy(result, written, offset, offset + size)
    } else {
      if (command === 0 || at + command > delta.length) throw new Error('a broken delta')
      written += delta.copy(result, written, at, at + command)
      at += command
    }
  }
  if (written !== result.length) throw new Error('a delta that ends early')
  return result
}

/** What to copy: the bits of the command say which bytes of offset and size follow; the others are zero. */
function readCopy(command: number, next: () => number): { offset: number; size: number } {
  const byte = (bit: number) => (command & bit ? next() : 0)
  const offset = byte(1) + byte(2) * 2 ** 8 + byte(4) * 2 ** 16 + byte(8) * 2 ** 24
  return { offset, size: byte(16) + byte(32) * 2 ** 8 + byte(64) * 2 ** 16 || 0x10000 }
}
