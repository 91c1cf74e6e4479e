import ssh2, { type PublicKeyAuthContext } from 'ssh2'
import { isSignedBySsh } from '../../git/objects/signature/verify-ssh.ts'
import type { SshCertificate } from './certificate.ts'

/** Kinds that the library does not know: it hands what they sign on as it came, without the name before it. */
const ofSecurityKeys = new Set(['sk-ssh-ed25519@openssh.com', 'sk-ecdsa-sha2-nistp256@openssh.com'])

/** Flags and counter, behind the signature of a security key. */
const tailBytes = 5

/** Whether a client has proven to hold the key that it names. */
export function isProven({ key, signature, blob, hashAlgo }: PublicKeyAuthContext): boolean {
  if (!signature || !blob) return false
  if (ofSecurityKeys.has(key.algo)) {
    const at = Math.max(0, signature.length - tailBytes)
    const whole = Buffer.concat([
      field(Buffer.from(key.algo)),
      field(signature.subarray(0, at)),
      signature.subarray(at),
    ])
    return isSignedBySsh(key.data, whole, blob)
  }
  // Without a hash of its own, an RSA key signs over SHA-1.
  if (key.algo === 'ssh-rsa' && hashAlgo === undefined) return false
  const known = ssh2.utils.parseKey(`${key.algo} ${key.data.toString('base64')}`)
  return !(known instanceof Error) && known.verify(blob, signature, hashAlgo) === true
}

/** Whether what a client names is no key but a certificate; RSA's has names of its own for the hashes. */
export function isCertificate(algorithm: string): boolean {
  return algorithm.endsWith('-cert-v01@openssh.com')
}

/** Whether a client has proven to hold the key that a certificate is about. The library hands the signature on as it came. */
export function isProvenByCertificate(
  { signature, blob }: PublicKeyAuthContext,
  certificate: SshCertificate,
): boolean {
  return signature && blob ? isSignedBySsh(certificate.key, signature, blob) : false
}

function field(bytes: Buffer): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32BE(bytes.length)
  return Buffer.concat([size, bytes])
}
