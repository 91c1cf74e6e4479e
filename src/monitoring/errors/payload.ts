import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'

const pack = promisify(gzip)
const unpack = promisify(gunzip)

/** The JSON of an event as it is stored. At the fastest level: of most events nothing is kept for long. */
export function packPayload(payload: Buffer): Promise<Buffer> {
  return pack(payload, { level: 1 })
}

/** What was sent, as data. */
export async function readPayload(packed: Buffer): Promise<Record<string, unknown>> {
  const bytes = await unpack(packed)
  return JSON.parse(bytes.toString('utf8')) as Record<string, unknown> // an object when it was packed
}
