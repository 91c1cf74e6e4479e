import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { crc32, deflate } from 'node:zlib'
import type { ObjectId, ObjectType } from '../types.ts'

export interface NewObject {
  readonly id: ObjectId
  readonly type: ObjectType
  readonly data: Buffer
}

export interface Pack {
  /** `pack-<checksum>`, without a suffix. */
  readonly name: string
  readonly pack: Buffer
  readonly index: Buffer
}

interface Packed {
  readonly id: Buffer
  readonly offset: number
  readonly crc: number
}

const compress = promisify(deflate)
const typeNumbers: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3, tag: 4 }
/** Objects compressed at a time: keeps all threads busy without holding every result twice. */
const window = 64

/** Type and size before an object: three type bits, four size bits, then seven size bits a byte. */
function entryHeader(type: ObjectType, size: number): Buffer {
  const bytes: number[] = []
  let byte = (typeNumbers[type] << 4) | (size & 15)
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push(byte | 0x80)
    byte = rest & 0x7f
  }
  bytes.push(byte)
  return Buffer.from(bytes)
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function sha1(pieces: readonly Buffer[]): Buffer {
  const hash = createHash('sha1')
  for (const piece of pieces) hash.update(piece)
  return hash.digest()
}

/** An index of version 2 (gitformat-pack): a fan-out table, then ids, checksums and offsets by id. */
function buildIndex(objects: readonly Packed[], checksum: Buffer): Buffer {
  const sorted = objects.toSorted((a, b) => Buffer.compare(a.id, b.id))
  const counts = new Array<number>(256).fill(0)
  for (const { id } of sorted) counts[id[0] ?? 0] = (counts[id[0] ?? 0] ?? 0) + 1
  let total = 0
  const fanOut = counts.map((count) => {
    total += count
    return uint32(total)
  })
  const pieces = [
    Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]),
    ...fanOut,
    ...sorted.map(({ id }) => id),
    ...sorted.map(({ crc }) => uint32(crc)),
    // Offsets fit 31 bits: a request body is capped far below 2 GB.
    ...sorted.map(({ offset }) => uint32(offset)),
    checksum,
  ]
  return Buffer.concat([...pieces, sha1(pieces)])
}

/** A pack file of whole objects and its index. */
export async function buildPack(objects: readonly NewObject[]): Promise<Pack> {
  const pieces = [Buffer.from('PACK'), uint32(2), uint32(objects.length)]
  const packed: Packed[] = []
  let offset = 12
  for (let at = 0; at < objects.length; at += window) {
    const group = objects.slice(at, at + window)
    const bytes = await Promise.all(group.map(({ data }) => compress(data, { level: 4 })))
    for (const [i, object] of group.entries()) {
      const header = entryHeader(object.type, object.data.length)
      const body = bytes[i] ?? Buffer.alloc(0)
      packed.push({
        id: Buffer.from(object.id, 'hex'),
        offset,
        crc: crc32(body, crc32(header)),
      })
      pieces.push(header, body)
      offset += header.length + body.length
    }
  }
  const checksum = sha1(pieces)
  const pack = Buffer.concat([...pieces, checksum])
  return {
    name: `pack-${checksum.toString('hex')}`,
    pack,
    index: buildIndex(packed, checksum),
  }
}
