import { byteCache } from '../../base/byte-cache.ts'
import type { Ctx } from '../../ctx.ts'
import {
  type CheckSignatureInput,
  checkSignature,
  type SignatureCheck,
  type SignatureDetails,
} from '../../git/objects/signature.ts'
import type { Repo } from '../../git/repo.ts'
import { usersByEmail } from '../../identity/users/find-basic.ts'
import {
  findSigningKey,
  listNamedGpgKeys,
  listVerifiedEmails,
  type NamedGpgKey,
} from './signature-queries.ts'

/** How much a signature is worth, in the words of the reference platform. */
export const verificationStatuses = [
  'unverified',
  'verified',
  'same_user_different_email',
  'other_user',
  'unverified_key',
  'unknown_key',
  'multiple_signatures',
  'revoked_key',
] as const
export type VerificationStatus = (typeof verificationStatuses)[number]

/** A signed commit or tag, and who says that they wrote it. */
export interface Signed {
  readonly repo: Repo
  readonly id: string
  /** The committer's or tagger's address. */
  readonly email: string
  /** When they say so: ISO 8601. */
  readonly date: string
  readonly signal?: AbortSignal | undefined
}

/** What signatures were found to be: pure arithmetic over an object and a key, which never changes. */
const checked = byteCache<SignatureCheck>(1024 * 1024, () => 600)

async function check(
  { repo, id, signal }: Signed,
  input: Omit<CheckSignatureInput, 'id'>,
  key: string,
): Promise<SignatureCheck> {
  const name = `${repo.path} ${id} ${key}`
  const known = checked.get(name)
  if (known) return known
  const found = await checkSignature(repo, { ...input, id }, signal)
  checked.set(name, found)
  return found
}

export interface PgpVerdict {
  readonly status: VerificationStatus
  readonly key?: NamedGpgKey | undefined
  /** Whom the key names: preferably by an address that is its user's. */
  readonly person?: { readonly name: string; readonly email: string } | undefined
}

type PgpCheck = Extract<SignatureCheck, { kind: 'PGP' }>

async function checkPgp(signed: Signed, key?: NamedGpgKey): Promise<PgpCheck> {
  const input = key ? { pgpKey: key.key } : {}
  const found = await check(signed, input, `pgp ${key?.id ?? 0}`)
  if (found.kind !== 'PGP') throw new Error('the signature changed its kind')
  return found
}

/** A PGP signature against the keys that users have registered. */
export async function verifyPgp(
  ctx: Ctx,
  signed: Signed,
  details: Extract<SignatureDetails, { kind: 'PGP' }>,
): Promise<PgpVerdict> {
  const keys = await listNamedGpgKeys(ctx.db, details)
  let first: PgpVerdict | undefined
  for (const key of keys) {
    const found = await checkPgp(signed, key)
    const verdict = { key, ...(await judgePgp(ctx, signed, key, found)) }
    if (found.valid) return verdict
    first ??= verdict
  }
  if (first) return first
  const { several } = await checkPgp(signed)
  return { status: several ? 'multiple_signatures' : 'unknown_key' }
}

async function judgePgp(
  ctx: Ctx,
  { email }: Signed,
  key: NamedGpgKey,
  found: PgpCheck,
): Promise<Omit<PgpVerdict, 'key'>> {
  const own = await listVerifiedEmails(ctx.db, key.user_id)
  const verified = found.people.filter((person) => own.includes(person.email.toLowerCase()))
  const person = verified[0] ?? found.people[0]
  return { person, status: pgpStatus({ found, verified, own, email: email.toLowerCase() }) }
}

function pgpStatus(facts: {
  readonly found: PgpCheck
  readonly verified: PgpCheck['people']
  readonly own: readonly string[]
  readonly email: string
}): VerificationStatus {
  const { found, verified, own, email } = facts
  if (found.several) return 'multiple_signatures'
  if (found.revoked) return 'revoked_key'
  if (verified.length === 0) return 'unverified_key'
  if (!found.valid) return 'unverified'
  if (verified.some((person) => person.email.toLowerCase() === email)) return 'verified'
  return own.includes(email) ? 'same_user_different_email' : 'other_user'
}

export type SigningKey = NonNullable<Awaited<ReturnType<typeof findSigningKey>>>

export interface SshVerdict {
  readonly status: VerificationStatus
  readonly key?: SigningKey | undefined
}

/** An SSH signature against the keys for signing that users have registered. */
export async function verifySsh(
  ctx: Ctx,
  signed: Signed,
  details: Extract<SignatureDetails, { kind: 'SSH' }>,
): Promise<SshVerdict> {
  const fingerprint = details.key?.fingerprint
  const key = fingerprint === undefined ? undefined : await findSigningKey(ctx.db, fingerprint)
  const found = await check(signed, {}, 'ssh')
  if (found.kind !== 'SSH' || !found.valid) return { status: 'unverified', key }
  if (!key) return { status: 'unknown_key' }
  // What was signed before the key's end stays signed.
  if (key.expires_at !== null && Date.parse(key.expires_at) < Date.parse(signed.date)) {
    return { status: 'unverified_key', key }
  }
  const committer = await userOf(ctx, signed.email)
  const isOwn = committer !== undefined && committer === key.user_id
  return { status: isOwn ? 'verified' : 'other_user', key }
}

async function userOf(ctx: Ctx, email: string): Promise<number | undefined> {
  const owners = await usersByEmail(ctx, [email])
  return owners.get(email.toLowerCase())?.id
}

export interface X509Verdict {
  readonly status: VerificationStatus
  readonly check: Extract<SignatureCheck, { kind: 'X509' }>
}

/** An X.509 signature against the authorities that the server trusts. */
export async function verifyX509(ctx: Ctx, signed: Signed): Promise<X509Verdict> {
  const { x509Authorities: authorities } = ctx.config
  // Authorities change: the answer is not remembered.
  const found = await checkSignature(signed.repo, { id: signed.id, authorities }, signed.signal)
  if (found.kind !== 'X509') throw new Error('the signature changed its kind')
  return { status: await x509Status(ctx, signed, found), check: found }
}

async function x509Status(
  ctx: Ctx,
  { email, date }: Signed,
  found: X509Verdict['check'],
): Promise<VerificationStatus> {
  if (!found.valid || !found.trusted) return 'unverified'
  // Git signs what is complete: an older signature was made for something else.
  const seconds = (text: string) => Math.floor(Date.parse(text) / 1000)
  if (found.signedAt !== undefined && seconds(found.signedAt) < seconds(date)) return 'unverified'
  if (!found.emails.includes(email.toLowerCase())) return 'unverified'
  return (await userOf(ctx, email)) === undefined ? 'unverified' : 'verified'
}
