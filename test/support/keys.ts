import { createHash, generateKeyPairSync } from 'node:crypto'

/** A field of SSH's binary form. */
export function field(bytes: Buffer): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32BE(bytes.length)
  return Buffer.concat([size, bytes])
}

/** A public key line of these fields. */
export function sshLine(type: string, ...fields: Buffer[]): string {
  const bytes = Buffer.concat([Buffer.from(type), ...fields].map(field))
  return `${type} ${bytes.toString('base64')}`
}

/** A new Ed25519 public key line. */
export function ed25519(): string {
  const { publicKey } = generateKeyPairSync('ed25519')
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
  return sshLine('ssh-ed25519', raw)
}

/** A new RSA public key line. */
export function rsa(bits: number): string {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: bits })
  const jwk = publicKey.export({ format: 'jwk' })
  const number = (text: string | undefined) => {
    const bytes = Buffer.from(text ?? '', 'base64url')
    return (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes
  }
  return sshLine('ssh-rsa', number(jwk.e), number(jwk.n))
}

/** An armoured OpenPGP public key made of fixed bytes, with its fingerprint. */
export function gpgKey(seed: number): { armored: string; fingerprint: string } {
  const oid = Buffer.from('092b06010401da470f01', 'hex')
  const point = Buffer.concat([Buffer.from([0x01, 0x07, 0x40]), Buffer.alloc(32, seed)])
  const body = Buffer.concat([Buffer.from([4, 0x60, 0, 0, seed, 22]), oid, point])
  const packet = Buffer.concat([Buffer.from([0xc6, body.length]), body])
  const head = Buffer.from([0x99, 0, body.length])
  const fingerprint = createHash('sha1').update(head).update(body).digest('hex')
  const data = (packet.toString('base64').match(/.{1,64}/g) ?? []).join('\n')
  const armored = `-----BEGIN PGP PUBLIC KEY BLOCK-----\nComment: test\n\n${data}\n=${crc(packet)}\n-----END PGP PUBLIC KEY BLOCK-----\n`
  return { armored, fingerprint }
}

function crc(bytes: Buffer): string {
  let sum = 0xb704ce
  for (const byte of bytes) {
    sum ^= byte << 16
    for (let bit = 0; bit < 8; bit++) sum = (sum << 1) ^ (sum & 0x800000 ? 0x1864cfb : 0)
    sum &= 0xffffff
  }
  return Buffer.from([sum >> 16, (sum >> 8) & 255, sum & 255]).toString('base64')
}
