import { engineCall } from '../engine/engine-call.ts'
import { GitError } from '../error.ts'
import type { ObjectId } from '../types.ts'
import { readObject } from './objects.ts'
import { signatureStart } from './parse-object.ts'
import { readSshSignature, type SshKey } from './signature/ssh.ts'
import { type PgpIssuer, readPgpIssuer } from './signature/verify-pgp.ts'
import { readX509Signer, type X509Signer } from './signature/x509.ts'

/** What a commit's or tag's signature says about itself; nothing is verified. */
export type SignatureDetails =
  | ({ readonly kind: 'PGP' } & PgpIssuer)
  | { readonly kind: 'SSH'; readonly key?: SshKey | undefined }
  | { readonly kind: 'X509'; readonly signer?: X509Signer | undefined }

export interface SignedObject {
  /** The armoured signature. */
  readonly signature: string
  /** The very bytes that were signed. */
  readonly payload: Buffer
  readonly details: SignatureDetails
}

const newline = 0x0a

/** The header lines of a commit or tag without the signature, and the signature. */
function takeHeader(data: Buffer): { signature: Buffer; payload: Buffer } | undefined {
  const kept: Buffer[] = []
  const signature: Buffer[] = []
  let inside = false
  let at = 0
  while (at < data.length && data[at] !== newline) {
    const found = data.indexOf(newline, at)
    const end = found < 0 ? data.length : found + 1
    const line = data.subarray(at, end)
    const first = line.toString('latin1', 0, 15)
    inside = line[0] === 0x20 ? inside : /^gpgsig(?:-sha256)? /.test(first)
    if (!inside) kept.push(line)
    // Of the two hashes' signatures the first is the one over these bytes.
    else signature.push(line.subarray(line[0] === 0x20 ? 1 : line.indexOf(0x20) + 1))
    at = end
  }
  if (signature.length === 0) return undefined
  return {
    signature: Buffer.concat(signature),
    payload: Buffer.concat([...kept, data.subarray(at)]),
  }
}

/** A tag's signature is the end of its message. */
function takeTrailing(data: Buffer): { signature: Buffer; payload: Buffer } | undefined {
  const last = [...data.toString('latin1').matchAll(signatureStart)].at(-1)
  if (!last) return undefined
  return { signature: data.subarray(last.index), payload: data.subarray(0, last.index) }
}

async function detailsOf(signature: string): Promise<SignatureDetails> {
  if (signature.startsWith('-----BEGIN SSH SIGNATURE-----')) {
    return { kind: 'SSH', key: readSshSignature(signature) }
  }
  if (signature.startsWith('-----BEGIN SIGNED MESSAGE-----')) {
    return { kind: 'X509', signer: await readX509Signer(signature) }
  }
  return { kind: 'PGP', ...(await readPgpIssuer(signature)) }
}

/** The signature of a raw commit or tag; undefined when it has none. */
export async function readSignatureOf(
  type: string,
  data: Buffer,
): Promise<SignedObject | undefined> {
  const found = takeHeader(data) ?? (type === 'tag' ? takeTrailing(data) : undefined)
  if (!found) return undefined
  const signature = found.signature.toString('utf8').trimEnd()
  return { signature, payload: found.payload, details: await detailsOf(signature) }
}

/** The signature of a commit or annotated tag (its own id); `not_found` when unsigned (docs/contract/B-resolved §2.3). */
export const readSignature = engineCall({
  name: 'readSignature',
  lane: 'light',
  async run({ repository }, id: ObjectId): Promise<SignedObject> {
    const { type, data } = await readObject(repository, id)
    const signed = await readSignatureOf(type, data)
    if (!signed) throw new GitError('not_found', 'the object is not signed')
    return signed
  },
})
