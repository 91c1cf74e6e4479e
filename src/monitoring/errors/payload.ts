import { promisify } from 'node:util'
import { gunzip, gzip, gzipSync } from 'node:zlib'

const pack = promisify(gzip)
const unpack = promisify(gunzip)
/** The fastest level: of most events nothing is kept for long. */
const fast = { level: 1 }

/** The JSON of an event as it is stored. */
export function packPayload(payload: Buffer): Promise<Buffer> {
  return pack(payload, fast)
}

/** As `packPayload`, for a thread that nobody else waits for. */
export function packPayloadNow(payload: Buffer): Buffer {
  return gzipSync(payload, fast)
}

/** What was sent, as data. */
export async function readPayload(packed: Buffer): Promise<Record<string, unknown>> {
  const bytes = await unpack(packed)
  return JSON.parse(bytes.toString('utf8')) as Record<string, unknown> // an object when it was packed
}
