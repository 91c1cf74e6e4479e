import { engineCall } from '../engine/engine-call.ts'
import { GitError } from '../error.ts'
import type { ObjectId } from '../types.ts'
import { readObject } from './objects.ts'
import { parseCommit, parseTag, signatureStart } from './parse-object.ts'
import { readSshSignature, type SshKey } from './signature/ssh.ts'
import {
  type PgpCheck,
  type PgpIssuer,
  readPgpIssuer,
  verifyPgpSignature,
} from './signature/verify-pgp.ts'
import { verifySshSignature } from './signature/verify-ssh.ts'
import { verifyX509Signature, type X509Check } from './signature/verify-x509.ts'
import { readX509Signer, type X509Signer } from './signature/x509.ts'

/** What a commit's or tag's signature says about itself; nothing is verified. */
export type SignatureDetails =
  | ({ readonly kind: 'PGP' } & PgpIssuer)
  | { readonly kind: 'SSH'; readonly key?: SshKey | undefined }
  | { readonly kind: 'X509'; readonly signer?: X509Signer | undefined }

export type SignatureCheck =
  | ({ readonly kind: 'PGP' } & PgpCheck)
  | { readonly kind: 'SSH'; readonly valid: boolean }
  | ({ readonly kind: 'X509' } & X509Check)

export interface SignedObject {
  /** The armoured signature. */
  readonly signature: string
  /** The very bytes that were signed. */
  readonly payload: Buffer
  readonly details: SignatureDetails
}

export interface CheckSignatureInput {
  readonly id: ObjectId
  /** The armoured public key that a PGP signature is to be checked with. */
  readonly pgpKey?: string | undefined
  /** A PEM file of the authorities that X.509 signatures are trusted by. */
  readonly authorities?: string | undefined
}

/** Larger commits and tags are not checked: their bytes would be hashed several times. */
const MAX_BYTES = 16 * 1024 * 1024
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

function kindOf(signature: string): SignatureDetails['kind'] {
  if (signature.startsWith('-----BEGIN SSH SIGNATURE-----')) return 'SSH'
  return signature.startsWith('-----BEGIN SIGNED MESSAGE-----') ? 'X509' : 'PGP'
}

/** The signature of a raw commit or tag, and what it signs. */
interface Taken {
  readonly signature: string
  readonly payload: Buffer
}

function takeSignature(type: string, data: Buffer): Taken {
  const found = takeHeader(data) ?? (type === 'tag' ? takeTrailing(data) : undefined)
  if (!found) throw new GitError('not_found', 'the object is not signed')
  return { signature: found.signature.toString('utf8').trimEnd(), payload: found.payload }
}

/** The signature of a raw commit or tag; `not_found` when it has none. */
export async function readSignatureOf(type: string, data: Buffer): Promise<SignedObject> {
  return await withDetails(takeSignature(type, data))
}

async function withDetails(taken: Taken): Promise<SignedObject> {
  return { ...taken, details: await detailsOf(taken.signature) }
}

/** The signature of a commit or annotated tag (its own id); `not_found` when unsigned (docs/contract/B-resolved §2.3). */
export const readSignature = engineCall({
  name: 'readSignature',
  lane: 'light',
  // Most commits have none, which takes no engine to say.
  inProcess: () => true,
  async run({ repository }, id: ObjectId): Promise<SignedObject> {
    const { type, data } = await readObject(repository, id)
    const taken = takeSignature(type, data)
    repository.assertEngine('what a signature holds')
    return await withDetails(taken)
  },
})

async function detailsOf(signature: string): Promise<SignatureDetails> {
  const kind = kindOf(signature)
  if (kind === 'SSH') return { kind, key: readSshSignature(signature) }
  if (kind === 'X509') return { kind, signer: await readX509Signer(signature) }
  return { kind, ...(await readPgpIssuer(signature)) }
}

/**
 * Whether the signature of a commit or annotated tag (its own id) is good: by the key in it (SSH), by a given key (PGP),
 * or by a certificate (X.509). Whose key it is, is for the caller to say.
 */
export const checkSignature = engineCall({
  name: 'checkSignature',
  // A signature costs milliseconds of computing, more than anything else among the light work.
  lane: 'heavy',
  async run({ repository }, input: CheckSignatureInput): Promise<SignatureCheck> {
    const { type, data } = await readObject(repository, input.id)
    const { signature, payload } = takeSignature(type, data)
    if (data.length > MAX_BYTES) throw new GitError('too_large', 'the signed object is too large')
    const kind = kindOf(signature)
    if (kind === 'SSH') return { kind, valid: verifySshSignature(signature, payload) }
    if (kind === 'PGP') {
      return { kind, ...(await verifyPgpSignature(signature, payload, input.pgpKey)) }
    }
    const options = {
      authorities: input.authorities ?? '',
      writtenAt: writtenAt(input.id, type, data),
    }
    return { kind, ...(await verifyX509Signature(signature, payload, options)) }
  },
})

function writtenAt(id: ObjectId, type: string, data: Buffer): Date {
  const person = type === 'tag' ? parseTag(id, data).tagger : parseCommit(id, data).committer
  return new Date(person?.date ?? 0)
}
