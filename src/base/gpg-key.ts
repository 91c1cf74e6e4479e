import { createHash } from 'node:crypto'

/** A key that makes signatures: a primary key or one of its subkeys. */
export interface GpgKeyName {
  /** Lower-case hex. */
  readonly fingerprint: string
  /** The last 16 digits of a version 4 fingerprint, the first 16 of a later one: what signatures name. */
  readonly keyId: string
}

export interface GpgKey extends GpgKeyName {
  /** What the block says are subkeys; whether they are is checked with each signature. */
  readonly subkeys: readonly GpgKeyName[]
}

/** More subkeys than anybody has. */
const MAX_SUBKEYS = 50

/**
 * Reads the primary key of an armoured OpenPGP public key block (RFC 9580) and its subkeys: enough to name them. A
 * private key, a broken check sum, or anything that is no key is undefined.
 */
export function parseGpgKey(armored: string): GpgKey | undefined {
  const bytes = dearmor(armored)
  const first = bytes && readPacket(bytes, 0)
  const primary = first && first.tag === PUBLIC_KEY ? nameOf(first.body) : undefined
  if (!bytes || !first || !primary) return undefined
  const subkeys: GpgKeyName[] = []
  let at = first.end
  while (at < bytes.length && subkeys.length < MAX_SUBKEYS) {
    const packet = readPacket(bytes, at)
    // Another key in the same block belongs to somebody else.
    if (!packet || packet.tag === PUBLIC_KEY) break
    const name = packet.tag === PUBLIC_SUBKEY ? nameOf(packet.body) : undefined
    if (name) subkeys.push(name)
    at = packet.end
  }
  return { ...primary, subkeys }
}

function nameOf(body: Buffer): GpgKeyName | undefined {
  if (body.length < 12) return undefined
  const version = body[0]
  if (version === 4) {
    const head = Buffer.from([0x99, body.length >> 8, body.length & 0xff])
    const fingerprint = createHash('sha1').update(head).update(body).digest('hex')
    return { fingerprint, keyId: fingerprint.slice(-16) }
  }
  if (version !== 5 && version !== 6) return undefined
  const head = Buffer.alloc(5)
  head[0] = version === 5 ? 0x9a : 0x9b
  head.writeUInt32BE(body.length, 1)
  const fingerprint = createHash('sha256').update(head).update(body).digest('hex')
  return { fingerprint, keyId: fingerprint.slice(0, 16) }
}

function dearmor(text: string): Buffer | undefined {
  const begin = '-----BEGIN PGP PUBLIC KEY BLOCK-----'
  const end = '-----END PGP PUBLIC KEY BLOCK-----'
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  const from = lines.indexOf(begin)
  const to = lines.indexOf(end)
  if (from < 0 || to < from) return undefined
  const inside = lines.slice(from + 1, to)
  // Headers such as `Comment:` end at an empty line.
  const gap = inside.indexOf('')
  const rows = inside.slice(gap + 1)
  const sum = rows.at(-1)?.startsWith('=') ? rows.pop() : undefined
  const data = rows.join('')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return undefined
  const bytes = Buffer.from(data, 'base64')
  return sum === undefined || sum.slice(1) === crc24(bytes) ? bytes : undefined
}

/** The check sum of ASCII armour, in base64. */
function crc24(bytes: Buffer): string {
  let crc = 0xb704ce
  for (const byte of bytes) {
    crc ^= byte << 16
    for (let bit = 0; bit < 8; bit++) {
      crc <<= 1
      if (crc & 0x1000000) crc ^= 0x1864cfb
    }
  }
  const sum = crc & 0xffffff
  return Buffer.from([sum >> 16, (sum >> 8) & 0xff, sum & 0xff]).toString('base64')
}

const PUBLIC_KEY = 6
const PUBLIC_SUBKEY = 14

/** The packet at a place, in the old or the new format; undefined when it is damaged. */
function readPacket(
  bytes: Buffer,
  at: number,
): { readonly tag: number; readonly body: Buffer; readonly end: number } | undefined {
  const head = bytes[at] ?? 0
  if ((head & 0x80) === 0) return undefined
  const rest = bytes.subarray(at)
  const size = (head & 0x40) === 0 ? oldLength(rest, head & 3) : newLength(rest)
  if (!size || size.at + size.length > rest.length) return undefined
  const tag = (head & 0x40) === 0 ? (head >> 2) & 0x0f : head & 0x3f
  const end = size.at + size.length
  return { tag, body: rest.subarray(size.at, end), end: at + end }
}

interface Size {
  readonly at: number
  readonly length: number
}

function oldLength(bytes: Buffer, kind: number): Size | undefined {
  const width = [1, 2, 4][kind]
  if (width === undefined || bytes.length < 1 + width) return undefined
  return { at: 1 + width, length: bytes.readUIntBE(1, width) }
}

function newLength(bytes: Buffer): Size | undefined {
  const first = bytes[1]
  if (first === undefined) return undefined
  if (first < 192) return { at: 2, length: first }
  if (first < 224) return { at: 3, length: ((first - 192) << 8) + (bytes[2] ?? 0) + 192 }
  // Partial lengths are not allowed for keys.
  return first === 255 && bytes.length >= 6 ? { at: 6, length: bytes.readUInt32BE(2) } : undefined
}
