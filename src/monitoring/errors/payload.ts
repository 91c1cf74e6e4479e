import { promisify } from 'node:util'
import { gunzip, gzip, gzipSync } from 'node:zlib'

const pack = promisify(gzip)
const unpack = promisify(gunzip)
/**
 * The fastest level: the last event of an error is kept only until the next one. A window of 16 kB packs as well, and
 * getting the memory for it takes half as long.
 */
const fast = { level: 1, windowBits: 14, memLevel: 7 }

/** Packing up to so many bytes takes less time than having another thread do it. */
const SMALL = 64 * 1024
/** What gzip begins with, and no JSON. */
const GZIP = 0x1f

/** The JSON of an event as it is kept. */
export async function packPayload(payload: Buffer): Promise<Buffer> {
  return payload.length <= SMALL ? gzipSync(payload, fast) : await pack(payload, fast)
}

/** What was sent, as data. */
export async function readPayload(kept: Buffer): Promise<Record<string, unknown>> {
  // An earlier version packed what waited to be counted only then: it may have been counted by this one.
  const bytes = kept[0] === GZIP ? await unpack(kept) : kept
  return JSON.parse(bytes.toString('utf8')) as Record<string, unknown> // an object when it was packed
}
