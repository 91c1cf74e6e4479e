import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { partsOfSshSignature, readStrings } from './ssh.ts'

const curves: Readonly<Record<string, { readonly crv: string; readonly size: number }>> = {
  nistp256: { crv: 'P-256', size: 32 },
  nistp384: { crv: 'P-384', size: 48 },
  nistp521: { crv: 'P-521', size: 66 },
}

const none = Buffer.alloc(0)

function url(bytes: Buffer): string {
  return bytes.toString('base64url')
}

function ed25519Key(point: Buffer): KeyObject {
  return createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: url(point) } })
}

function ecdsaKey(curve: string, point: Buffer): KeyObject | undefined {
  const known = Object.hasOwn(curves, curve) ? curves[curve] : undefined
  if (!known || point.length !== 1 + 2 * known.size || point[0] !== 4) return undefined
  const x = url(point.subarray(1, 1 + known.size))
  const y = url(point.subarray(1 + known.size))
  return createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: known.crv, x, y } })
}

/** A number as exactly so many bytes; SSH writes it with as few as it needs. */
function padded(number: Buffer, size: number): Buffer {
  const start = number.findIndex((byte) => byte !== 0)
  const digits = start < 0 ? none : number.subarray(start)
  return digits.length > size ? none : Buffer.concat([Buffer.alloc(size - digits.length), digits])
}

function verifyEcdsa(curve: string, point: Buffer, data: Buffer, signature: Buffer): boolean {
  const key = ecdsaKey(curve, point)
  const [r, s] = readStrings(signature)
  const size = curves[curve]?.size ?? 0
  const hash = { 32: 'sha256', 48: 'sha384', 66: 'sha512' }[size]
  if (!key || !r || !s || hash === undefined) return false
  const both = Buffer.concat([padded(r, size), padded(s, size)])
  return verify(hash, data, { key, dsaEncoding: 'ieee-p1363' }, both)
}

/** What a security key signs: the application, whether it was touched, a counter, and the data's hash. */
function securityKeyData(application: Buffer, data: Buffer, tail: Buffer): Buffer | undefined {
  // Flags and counter; without a touch (bit 0) ssh-keygen refuses the signature too.
  if (tail.length !== 5 || ((tail[0] ?? 0) & 1) === 0) return undefined
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest()
  return Buffer.concat([digest(application), tail, digest(data)])
}

const rsaHashes: Readonly<Record<string, string>> = {
  'rsa-sha2-256': 'sha256',
  'rsa-sha2-512': 'sha512',
}

/** The key's own fields, the signature's words and bytes, and what follows them. */
interface Parts {
  readonly key: readonly Buffer[]
  readonly type: string
  readonly bytes: Buffer
  readonly tail: Buffer
  readonly data: Buffer
}

const verifiers: Readonly<Record<string, (parts: Parts) => boolean>> = {
  'ssh-ed25519': ({ key, type, bytes, data }) =>
    type === 'ssh-ed25519' && verify(null, data, ed25519Key(key[1] ?? none), bytes),
  'ssh-rsa'({ key, type, bytes, data }) {
    // Of RSA's signatures those over SHA-1 are no longer taken.
    const hash = Object.hasOwn(rsaHashes, type) ? rsaHashes[type] : undefined
    const [, e, n] = key
    if (hash === undefined || !e || !n) return false
    const known = createPublicKey({ format: 'jwk', key: { kty: 'RSA', e: url(e), n: url(n) } })
    return verify(hash, data, known, bytes)
  },
  'sk-ssh-ed25519@openssh.com'({ key, type, bytes, tail, data }) {
    const signed = securityKeyData(key[2] ?? none, data, tail)
    if (type !== 'sk-ssh-ed25519@openssh.com' || !signed) return false
    return verify(null, signed, ed25519Key(key[1] ?? none), bytes)
  },
  'sk-ecdsa-sha2-nistp256@openssh.com'({ key, type, bytes, tail, data }) {
    const signed = securityKeyData(key[3] ?? none, data, tail)
    if (type !== 'sk-ecdsa-sha2-nistp256@openssh.com' || !signed) return false
    return verifyEcdsa('nistp256', key[2] ?? none, signed, bytes)
  },
}

function verifierOf(type: string): ((parts: Parts) => boolean) | undefined {
  if (Object.hasOwn(verifiers, type)) return verifiers[type]
  const curve = /^ecdsa-sha2-(nistp\d{3})$/.exec(type)?.[1]
  if (curve === undefined) return undefined
  return ({ key, type: signed, bytes, data }) =>
    signed === type &&
    key[1]?.toString('latin1') === curve &&
    verifyEcdsa(curve, key[2] ?? none, data, bytes)
}

function framed(...fields: readonly Buffer[]): Buffer {
  const pieces = fields.flatMap((field) => {
    const size = Buffer.alloc(4)
    size.writeUInt32BE(field.length)
    return [size, field]
  })
  return Buffer.concat([Buffer.from('SSHSIG'), ...pieces])
}

/**
 * Whether an armoured SSH signature (PROTOCOL.sshsig) over `payload` in git's namespace was made by the key that it
 * carries. Whose key that is remains to be asked.
 */
export function verifySshSignature(armoured: string, payload: Buffer): boolean {
  const parts = partsOfSshSignature(armoured)
  if (!parts) return false
  const { key, namespace, reserved, hash, signature } = parts
  const hashName = hash.toString('latin1')
  if (namespace.toString('latin1') !== 'git' || !/^sha(?:256|512)$/.test(hashName)) return false
  const digest = createHash(hashName).update(payload).digest()
  return isSignedBySsh(key, signature, framed(namespace, reserved, hash, digest))
}

/** Whether a signature over `data` was made by a key, both in SSH's binary form (RFC 4253 §6.6). */
export function isSignedBySsh(key: Buffer, signature: Buffer, data: Buffer): boolean {
  const [type, bytes] = readStrings(signature)
  const fields = readStrings(key)
  if (!type || !bytes || !fields[0]) return false
  const verifier = verifierOf(fields[0].toString('latin1'))
  if (!verifier) return false
  const tail = signature.subarray(8 + type.length + bytes.length)
  try {
    return verifier({ key: fields, type: type.toString('latin1'), bytes, tail, data })
  } catch {
    // Numbers that make no key, or no signature of it.
    return false
  }
}
