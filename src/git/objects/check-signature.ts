import { engineCall } from '../engine/engine-call.ts'
import { GitError } from '../error.ts'
import type { ObjectId } from '../types.ts'
import { readObject } from './objects.ts'
import { parseCommit, parseTag } from './parse-object.ts'
import { type PgpCheck, verifyPgpSignature } from './signature/verify-pgp.ts'
import { verifySshSignature } from './signature/verify-ssh.ts'
import { verifyX509Signature, type X509Check } from './signature/verify-x509.ts'
import { readSignatureOf, type SignedObject } from './signature.ts'

export type SignatureCheck =
  | ({ readonly kind: 'PGP' } & PgpCheck)
  | { readonly kind: 'SSH'; readonly valid: boolean }
  | ({ readonly kind: 'X509' } & X509Check)

export interface CheckSignatureInput {
  readonly id: ObjectId
  /** The armoured public key that a PGP signature is to be checked with. */
  readonly pgpKey?: string | undefined
  /** A PEM file of the authorities that X.509 signatures are trusted by. */
  readonly authorities?: string | undefined
}

/** Larger commits and tags are not checked: their bytes would be hashed several times. */
const MAX_BYTES = 16 * 1024 * 1024

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
    const signed = await readSignatureOf(type, data)
    if (!signed) throw new GitError('not_found', 'the object is not signed')
    if (data.length > MAX_BYTES) throw new GitError('too_large', 'the signed object is too large')
    return await check(signed, input, () => writtenAt(input.id, type, data))
  },
})

function writtenAt(id: ObjectId, type: string, data: Buffer): Date {
  const person = type === 'tag' ? parseTag(id, data).tagger : parseCommit(id, data).committer
  return new Date(person?.date ?? 0)
}

async function check(
  { signature, payload, details }: SignedObject,
  input: CheckSignatureInput,
  date: () => Date,
): Promise<SignatureCheck> {
  if (details.kind === 'SSH') {
    return { kind: 'SSH', valid: verifySshSignature(signature, payload) }
  }
  if (details.kind === 'PGP') {
    const checked = await verifyPgpSignature(signature, payload, input.pgpKey)
    return { kind: 'PGP', ...checked }
  }
  const options = { authorities: input.authorities ?? '', writtenAt: date() }
  return { kind: 'X509', ...(await verifyX509Signature(signature, payload, options)) }
}
