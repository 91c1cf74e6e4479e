import { createHash } from 'node:crypto'

/** A public key as it is kept: one line, and the names under which it is found. */
export interface SshKey {
  /** `type base64 comment`. */
  readonly text: string
  readonly type: string
  readonly bits: number
  /** `SHA256:` and base64 without padding, as OpenSSH prints it. */
  readonly fingerprintSha256: string
  /** Sixteen hex pairs between colons. */
  readonly fingerprintMd5: string
}

const CURVES = {
  nistp256: { point: 65, bits: 256 },
  nistp384: { point: 97, bits: 384 },
  nistp521: { point: 133, bits: 521 },
} as const

const SMALLEST_RSA = 2048
const LARGEST_RSA = 16_384

/** Reads length-prefixed fields of the key's binary form. */
class Fields {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** The next field, or undefined when the bytes end before it does. */
  next(): Buffer | undefined {
    if (this.#at + 4 > this.#bytes.length) return undefined
    const end = this.#at + 4 + this.#bytes.readUInt32BE(this.#at)
    if (end > this.#bytes.length) return undefined
    const field = this.#bytes.subarray(this.#at + 4, end)
    this.#at = end
    return field
  }

  get ended(): boolean {
    return this.#at === this.#bytes.length
  }
}

/** Bits of a positive number in SSH's form: no needless zero in front. */
function bitsOf(number: Buffer | undefined): number {
  const first = number?.[0]
  if (number === undefined || first === undefined || first >= 0x80) return 0
  const second = number[1] ?? 0
  if (first === 0 && (number.length === 1 || second < 0x80)) return 0
  const lead = first === 0 ? second : first
  const bytes = first === 0 ? number.length - 1 : number.length
  return (bytes - 1) * 8 + (32 - Math.clz32(lead))
}

function rsaBits(fields: Fields): number {
  const exponent = bitsOf(fields.next())
  const modulus = bitsOf(fields.next())
  const fits = exponent >= 2 && modulus >= SMALLEST_RSA && modulus <= LARGEST_RSA
  return fits ? modulus : 0
}

type BitsOf = (fields: Fields) => number

function ecdsaBits(name: keyof typeof CURVES): BitsOf {
  const curve = CURVES[name]
  return (fields) => {
    const named = fields.next()?.toString('latin1')
    const point = fields.next()
    return named === name && point?.length === curve.point && point[0] === 4 ? curve.bits : 0
  }
}

function ed25519Bits(fields: Fields): number {
  return fields.next()?.length === 32 ? 256 : 0
}

/** Security keys carry the application they were made for behind the key. */
function ofSecurityKey(bitsOf: BitsOf): BitsOf {
  return (fields) => {
    const bits = bitsOf(fields)
    const length = fields.next()?.length ?? 0
    return length > 0 && length <= 255 ? bits : 0
  }
}

const readers: Readonly<Record<string, BitsOf>> = {
  'ssh-rsa': rsaBits,
  'ssh-ed25519': ed25519Bits,
  'ecdsa-sha2-nistp256': ecdsaBits('nistp256'),
  'ecdsa-sha2-nistp384': ecdsaBits('nistp384'),
  'ecdsa-sha2-nistp521': ecdsaBits('nistp521'),
  'sk-ssh-ed25519@openssh.com': ofSecurityKey(ed25519Bits),
  'sk-ecdsa-sha2-nistp256@openssh.com': ofSecurityKey(ecdsaBits('nistp256')),
}

/**
 * Reads a public key of the `authorized_keys` form without options: the type, its data, and perhaps a comment. Anything
 * that OpenSSH would not take, or that says one thing and holds another, is undefined. DSA and short RSA are refused.
 */
export function parseSshKey(given: string): SshKey | undefined {
  const line = given.trim()
  const parts =
    /^([a-z0-9@.-]{1,64}) +([A-Za-z0-9+/]{16,20000}={0,2})(?: +([^\r\n\0]{0,1024}))?$/.exec(line)
  const [, type = '', data = '', comment = ''] = parts ?? []
  const reader = Object.hasOwn(readers, type) ? readers[type] : undefined
  if (!reader) return undefined
  const bytes = Buffer.from(data, 'base64')
  if (bytes.toString('base64') !== data) return undefined
  const fields = new Fields(bytes)
  if (fields.next()?.toString('latin1') !== type) return undefined
  const bits = reader(fields)
  if (bits === 0 || !fields.ended) return undefined
  const md5 = createHash('md5').update(bytes).digest('hex')
  return {
    text: [type, data, comment.trim()].filter((part) => part !== '').join(' '),
    type,
    bits,
    fingerprintSha256: sha256Fingerprint(bytes),
    fingerprintMd5: (md5.match(/../g) ?? []).join(':'),
  }
}

/** How OpenSSH names a key: by the SHA-256 of its binary form. */
function sha256Fingerprint(bytes: Buffer): string {
  const digest = createHash('sha256').update(bytes).digest('base64')
  return `SHA256:${digest.replace(/=+$/, '')}`
}
