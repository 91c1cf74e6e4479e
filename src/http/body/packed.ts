import { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { decompress } from 'fzstd'
import { malformed } from './json.ts'

const more: Readonly<Record<string, () => Transform>> = {
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
  zstd,
}

/** What unpacks a content encoding; undefined for one that is not known. */
export function unpacker(encoding: string, any: boolean): (() => Transform) | undefined {
  if (encoding === 'gzip' || encoding === 'x-gzip') return () => createGunzip()
  return any ? more[encoding] : undefined
}

/** Up to `most` bytes of what these first bytes of a body unpack to; empty for what is not packed in a known way. */
export async function unpackedHead(encoding: string, bytes: Buffer, most: number): Promise<Buffer> {
  if (encoding === 'identity') return bytes.subarray(0, most)
  const stream = unpacker(encoding, true)?.()
  if (!stream) return Buffer.alloc(0)
  const chunks: Buffer[] = []
  let size = 0
  try {
    stream.end(bytes)
    for await (const chunk of stream) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= most) break
    }
  } catch {
    // The rest of it has not come yet, or it is broken: whoever reads it all will say so.
  }
  return Buffer.concat(chunks, size).subarray(0, most)
}

/** Zstandard, which this version of Node does not bring: unpacked at once, when the frame was looked over. */
function zstd(): Transform {
  const chunks: Buffer[] = []
  return new Transform({
    transform(chunk: Buffer, _, done) {
      chunks.push(chunk)
      done()
    },
    flush(done) {
      try {
        const frame = Buffer.concat(chunks)
        assertModestFrame(frame)
        done(null, Buffer.from(decompress(frame)))
      } catch {
        done(malformed())
      }
    },
  })
}

/** The window that every decoder is asked to support (RFC 8878 §3.1.1.1.2). */
const MAX_WINDOW = 8 * 1024 * 1024
const MAX_CONTENT = 64 * 1024 * 1024
/** Blocks hold up to 128 KiB each. */
const MAX_BLOCKS = 512

/** Refuses what would take much memory or time for its size, by the headers alone: one frame, few blocks. */
function assertModestFrame(frame: Buffer): void {
  if (frame.readUInt32LE(0) !== 0xfd2fb528) throw malformed()
  const flags = frame.readUInt8(4)
  const single = (flags >> 5) & 1
  const sizeBytes = [single, 2, 4, 8][flags >> 6] ?? 0
  if ((flags & 3) !== 0) throw malformed()
  let at = 5
  if (!single) {
    const window = frame.readUInt8(at)
    const base = 2 ** (10 + (window >> 3))
    if (base + (base / 8) * (window & 7) > MAX_WINDOW) throw malformed()
    at += 1
  }
  const size = sizeBytes === 8 ? Number(frame.readBigUInt64LE(at)) : readSize(frame, at, sizeBytes)
  if (size > MAX_CONTENT) throw malformed()
  const end = endOfBlocks(frame, at + sizeBytes) + ((flags >> 2) & 1) * 4
  if (end !== frame.length) throw malformed()
}

function readSize(frame: Buffer, at: number, bytes: number): number {
  return bytes === 0 ? 0 : frame.readUIntLE(at, bytes)
}

function endOfBlocks(frame: Buffer, from: number): number {
  let at = from
  for (let count = 0; count < MAX_BLOCKS; count += 1) {
    const header = frame.readUIntLE(at, 3)
    const isRepeated = ((header >> 1) & 3) === 1
    at += 3 + (isRepeated ? 1 : header >> 3)
    if (header & 1) return at
  }
  throw malformed()
}
