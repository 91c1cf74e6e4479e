import { createHash } from 'node:crypto'
import { setImmediate as immediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { deflate, deflateSync } from 'node:zlib'
import { type ObjectFormat, type ObjectId, type ObjectType, objectTypes } from '../types.ts'

export interface NewObject {
  readonly id: ObjectId
  readonly type: ObjectType
  readonly data: Buffer
}

const compress = promisify(deflate)
/** Objects compressed at a time: keeps all threads busy without holding every result twice. */
const window = 64
const level = 4
/** For a few bytes the way to another thread and back takes ten times as long as the work. */
const smallUpTo = 4 * 1024

function compressed(data: Buffer): Buffer | Promise<Buffer> {
  return data.length <= smallUpTo ? deflateSync(data, { level }) : compress(data, { level })
}

/** Type and size before an object: three type bits, four size bits, then seven size bits a byte. */
function entryHeader(type: ObjectType, size: number): Buffer {
  const bytes: number[] = []
  let byte = (objectTypes.indexOf(type) << 4) | (size & 15)
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

/** A pack of whole objects. */
export async function buildPack(
  objects: readonly NewObject[],
  format: ObjectFormat,
): Promise<Buffer> {
  const pieces = [Buffer.from('PACK'), uint32(2), uint32(objects.length)]
  for (let at = 0; at < objects.length; at += window) {
    const group = objects.slice(at, at + window)
    // Others get a turn between the groups.
    if (at > 0) await immediate()
    const bodies = await Promise.all(group.map(({ data }) => compressed(data)))
    for (const [i, { type, data }] of group.entries()) {
      pieces.push(entryHeader(type, data.length), bodies[i] ?? Buffer.alloc(0))
    }
  }
  const pack = Buffer.concat(pieces)
  return Buffer.concat([pack, createHash(format).update(pack).digest()])
}
