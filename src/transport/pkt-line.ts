import { GitError } from '../git/error.ts'

/** One packet of git's wire protocol (gitprotocol-common): a line of bytes or one of three marks. */
export type Packet =
  | { readonly kind: 'data'; readonly bytes: Buffer }
  | { readonly kind: 'flush' }
  | { readonly kind: 'delimiter' }
  | { readonly kind: 'end' }

// LARGE_PACKET_MAX of git, length digits included.
const maxPacket = 65_520
const hexDigits = /^[0-9a-fA-F]{4}$/

/** Takes packets off a stream that arrives in pieces; what was not asked for stays in `rest`. */
export class PacketReader {
  #buffer: Buffer = Buffer.alloc(0)

  push(chunk: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk])
  }

  /** The next packet, or undefined when more bytes are needed. Throws `invalid` on nonsense. */
  next(): Packet | undefined {
    if (this.#buffer.length < 4) {
      if (this.#buffer.length > 0 && !/^[0-9a-fA-F]+$/.test(this.#buffer.toString('latin1'))) {
        throw malformed()
      }
      return undefined
    }
    const digits = this.#buffer.toString('latin1', 0, 4)
    if (!hexDigits.test(digits)) throw malformed()
    const length = Number.parseInt(digits, 16)
    if (length === 3 || length > maxPacket) throw malformed()
    if (length < 4) {
      this.#advance(4)
      return marks[length]
    }
    if (this.#buffer.length < length) return undefined
    const bytes = this.#buffer.subarray(4, length)
    this.#advance(length)
    return { kind: 'data', bytes }
  }

  /** The bytes that came in behind the last packet taken. */
  rest(): Buffer {
    return this.#buffer
  }

  #advance(length: number): void {
    this.#buffer = this.#buffer.subarray(length)
  }
}

const marks: readonly Packet[] = [{ kind: 'flush' }, { kind: 'delimiter' }, { kind: 'end' }]

function malformed(): GitError {
  return new GitError('invalid', 'malformed pkt-line')
}

/** All packets of a complete message; throws `invalid` when it is cut short. */
export function parsePackets(message: Buffer): Packet[] {
  const reader = new PacketReader()
  reader.push(message)
  const packets: Packet[] = []
  for (let packet = reader.next(); packet; packet = reader.next()) packets.push(packet)
  if (reader.rest().length > 0) throw malformed()
  return packets
}

export const flushPacket: Buffer = Buffer.from('0000')

/** One data packet. */
export function packet(content: string | Buffer): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content
  const length = (bytes.length + 4).toString(16).padStart(4, '0')
  return Buffer.concat([Buffer.from(length), bytes])
}

/** The band that a side-band packet is for: data, what the user reads after `remote:`, a fatal error. */
export const Band = { data: 1, progress: 2, error: 3 } as const

// What remains of the largest packet beside length digits and the number of the band.
const maxBandBytes = { 'side-band-64k': 65_515, 'side-band': 995 } as const

export type SideBand = keyof typeof maxBandBytes

/** `bytes` as packets of one band. */
export function bandPackets(band: number, bytes: Buffer, size: SideBand): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += maxBandBytes[size]) {
    const piece = bytes.subarray(at, at + maxBandBytes[size])
    pieces.push(packet(Buffer.concat([Buffer.from([band]), piece])))
  }
  return Buffer.concat(pieces)
}
