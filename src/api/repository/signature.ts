import { createHash } from 'node:crypto'
import { z } from 'zod'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Repo } from '../../git/repo.ts'
import { readSignature, type SignatureDetails } from '../../git/signature.ts'
import type { ObjectId } from '../../git/types.ts'
import { ifFound } from './missing.ts'
import { findGpgKey, findSigningKey } from './signature-queries.ts'

const common = { verification_status: z.string(), commit_source: z.string() }

const issuerEntity = z.strictObject({
  id: z.int(),
  subject: z.string(),
  subject_key_identifier: z.string().nullable(),
  crl_url: z.string().nullable(),
})

/** A signature by its kind (spec B-resolved §2.3). */
export const signatureEntity = z.union([
  z.strictObject({
    signature_type: z.literal('PGP'),
    ...common,
    gpg_key_id: z.int().nullable(),
    gpg_key_primary_keyid: z.string().nullable(),
    gpg_key_user_name: z.string().nullable(),
    gpg_key_user_email: z.string().nullable(),
    gpg_key_subkey_id: z.int().nullable(),
  }),
  z.strictObject({
    signature_type: z.literal('SSH'),
    ...common,
    key: z
      .strictObject({
        id: z.int(),
        title: z.string(),
        created_at: z.string(),
        expires_at: z.string().nullable(),
        key: z.string(),
        usage_type: z.string(),
      })
      .nullable(),
  }),
  z.strictObject({
    signature_type: z.literal('X509'),
    ...common,
    x509_certificate: z
      .strictObject({
        id: z.int(),
        subject: z.string(),
        subject_key_identifier: z.string().nullable(),
        email: z.string().nullable(),
        serial_number: z.string(),
        certificate_status: z.string(),
        x509_issuer: issuerEntity,
      })
      .nullable(),
  }),
])

export type Signature = z.input<typeof signatureEntity>

/** Where the reference server says that it read the signature; clients know two words here. */
const COMMIT_SOURCE = 'gitaly'

/**
 * The signature of a commit or annotated tag, or 404 `404 Signature Not Found`. What it claims is told, with the key
 * that it names when a user has registered it; it is not checked, and so never `verified`.
 */
export async function getSignature(ctx: Ctx, repo: Repo, id: ObjectId): Promise<Signature> {
  const signed = await ifFound(readSignature(repo, id))
  if (!signed) throw notFound('Signature')
  return await presentSignature(ctx, signed.details)
}

async function presentSignature(ctx: Ctx, details: SignatureDetails): Promise<Signature> {
  const status = (isKnown: boolean) => ({
    verification_status: isKnown ? 'unverified' : 'unknown_key',
    commit_source: COMMIT_SOURCE,
  })
  if (details.kind === 'PGP') {
    const key = await findGpgKey(ctx.db, details)
    return {
      signature_type: 'PGP',
      ...status(key !== undefined),
      gpg_key_id: key?.id ?? null,
      gpg_key_primary_keyid: key?.key_id ?? details.keyId ?? null,
      gpg_key_user_name: key?.name ?? null,
      gpg_key_user_email: key?.email ?? null,
      gpg_key_subkey_id: null,
    }
  }
  if (details.kind === 'SSH') {
    const named = details.key
    const key = named && (await findSigningKey(ctx.db, named.fingerprint))
    return { signature_type: 'SSH', ...status(key !== undefined), key: key ?? null }
  }
  return { signature_type: 'X509', ...status(true), x509_certificate: certificateOf(details) }
}

function certificateOf({ signer }: Extract<SignatureDetails, { kind: 'X509' }>) {
  if (!signer) return null
  return {
    id: numberOf(`${signer.issuer} ${signer.serialNumber}`),
    subject: signer.subject,
    subject_key_identifier: signer.subjectKeyIdentifier ?? null,
    email: signer.email ?? null,
    serial_number: signer.serialNumber,
    certificate_status: 'good',
    x509_issuer: {
      id: numberOf(signer.issuer),
      subject: signer.issuer,
      subject_key_identifier: signer.issuerKeyIdentifier ?? null,
      crl_url: signer.crlUrl ?? null,
    },
  }
}

/** Certificates are not kept in a table: a number that is always the same for the same one. */
function numberOf(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6)
}
