import { dearmour } from './armour.ts'

export interface PgpIssuer {
  readonly keyId?: string | undefined
  readonly fingerprint?: string | undefined
}

const signaturePacket = 2
const issuerSubpacket = 16
const fingerprintSubpacket = 33

/** Reads bytes in order; reading past the end gives nothing rather than an error. */
class Reader {
  readonly #data: Buffer
  #at = 0

  constructor(data: Buffer) {
    this.#data = data
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#data.length
  }

  number(bytes: number): number {
    const piece = this.take(bytes)
    return piece.length === 0 ? 0 : piece.readUIntBE(0, piece.length)
  }

  take(bytes: number): Buffer {
    const piece = this.#data.subarray(this.#at, this.#at + bytes)
    this.#at += bytes
    return piece
  }
}

/** Tag and body of the next packet (RFC 4880 §4.2), in the old or the new format. */
function readPacket(reader: Reader): { tag: number; body: Reader } {
  const head = reader.number(1)
  if (head & 0x40) return { tag: head & 0x3f, body: new Reader(reader.take(newLength(reader))) }
  const size = [1, 2, 4][head & 3]
  const length = size === undefined ? Number.MAX_SAFE_INTEGER : reader.number(size)
  return { tag: (head >> 2) & 15, body: new Reader(reader.take(length)) }
}

function newLength(reader: Reader): number {
  const first = reader.number(1)
  if (first < 192) return first
  if (first < 255) return ((first - 192) << 8) + reader.number(1) + 192
  return reader.number(4)
}

/** Issuer and fingerprint among the subpackets of a version 4 signature (RFC 4880 §5.2.3.1). */
function readSubpackets(reader: Reader): PgpIssuer {
  let found: PgpIssuer = {}
  while (!reader.isAtEnd) {
    const body = reader.take(newLength(reader))
    const type = (body[0] ?? 0) & 0x7f
    const value = body.subarray(1)
    if (type === issuerSubpacket && value.length === 8) found = { ...found, keyId: hex(value) }
    if (type === fingerprintSubpacket && value.length === 21) {
      found = { ...found, fingerprint: hex(value.subarray(1)) }
    }
  }
  return found
}

function hex(bytes: Buffer): string {
  return bytes.toString('hex').toUpperCase()
}

/** Which key an armoured PGP signature says it was made with. */
export function readPgpIssuer(armoured: string): PgpIssuer {
  const data = dearmour(armoured)
  if (!data) return {}
  const { tag, body } = readPacket(new Reader(data))
  if (tag !== signaturePacket) return {}
  const version = body.number(1)
  if (version === 3) {
    // Length, type and time come before the key id.
    body.take(6)
    return { keyId: hex(body.take(8)) }
  }
  if (version !== 4) return {}
  body.take(3)
  const hashed = readSubpackets(new Reader(body.take(body.number(2))))
  const unhashed = readSubpackets(new Reader(body.take(body.number(2))))
  const fingerprint = hashed.fingerprint ?? unhashed.fingerprint
  const keyId = fingerprint?.slice(-16) ?? hashed.keyId ?? unhashed.keyId
  return { keyId, fingerprint }
}
