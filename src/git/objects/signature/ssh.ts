import { createHash } from 'node:crypto'
import { dearmour } from './armour.ts'

/** The public key that an SSH signature carries. */
export interface SshKey {
  readonly type: string
  /** `SHA256:…`, as ssh-keygen shows it. */
  readonly fingerprint: string
  /** What the signature is for: `git` in commits. */
  readonly namespace: string
}

/** Splits strings with a length before each (RFC 4251 §5); stops where the bytes end. */
export function readStrings(data: Buffer): Buffer[] {
  const strings: Buffer[] = []
  for (let at = 0; at + 4 <= data.length; ) {
    const length = data.readUInt32BE(at)
    if (at + 4 + length > data.length) break
    strings.push(data.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return strings
}

/** The parts of an armoured SSH signature (PROTOCOL.sshsig); undefined when it is damaged. */
export function partsOfSshSignature(armoured: string) {
  const data = dearmour(armoured)
  if (data?.toString('latin1', 0, 6) !== 'SSHSIG' || data.length < 10) return undefined
  if (data.readUInt32BE(6) !== 1) return undefined
  const [key, namespace, reserved, hash, signature] = readStrings(data.subarray(10))
  if (!key || !namespace || !reserved || !hash || !signature) return undefined
  return { key, namespace, reserved, hash, signature }
}

/** Which key an armoured SSH signature says it was made with; undefined when it is damaged. */
export function readSshSignature(armoured: string): SshKey | undefined {
  const parts = partsOfSshSignature(armoured)
  if (!parts) return undefined
  const { key, namespace } = parts
  const type = readStrings(key)[0]?.toString('latin1') ?? ''
  const digest = createHash('sha256').update(key).digest('base64').replace(/=+$/, '')
  return {
    type,
    fingerprint: `SHA256:${digest}`,
    namespace: namespace.toString('utf8'),
  }
}
