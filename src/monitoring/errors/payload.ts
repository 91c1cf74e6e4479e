import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'

const pack = promisify(gzip)
const unpack = promisify(gunzip)
/**
 * The fastest level: the last event of an error is kept only until the next one. A window of 16 kB packs as well, and
 * getting the memory for it takes half as long.
 */
const fast = { level: 1, windowBits: 14, memLevel: 7 }

/** The JSON of an event as it is kept. */
export function packPayload(payload: Buffer): Promise<Buffer> {
  return pack(payload, fast)
}

/** What was sent, as data. */
export async function readPayload(packed: Buffer): Promise<Record<string, unknown>> {
  const bytes = await unpack(packed)
  return JSON.parse(bytes.toString('utf8')) as Record<string, unknown> // an object when it was packed
}
