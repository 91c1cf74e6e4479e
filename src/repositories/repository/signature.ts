import { createHash } from 'node:crypto'
import { z } from 'zod'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { X509Signer } from '../../git/objects/signature/x509.ts'
import { readSignature, type SignatureDetails } from '../../git/objects/signature.ts'
import { ifFound } from './missing.ts'
import {
  type Signed,
  type VerificationStatus,
  verificationStatuses,
  verifyPgp,
  verifySsh,
  verifyX509,
} from './verify-signature.ts'

const common = { verification_status: z.enum(verificationStatuses), commit_source: z.string() }

const issuerEntity = z.strictObject({
  id: z.int(),
  subject: z.string(),
  subject_key_identifier: z.string().nullable(),
  crl_url: z.string().nullable(),
})

/** A signature by its kind (docs/contract/B-resolved §2.3). */
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
 * The signature of a commit or annotated tag, or 404 `404 Signature Not Found`: checked, and judged by whose the key is
 * (docs/contract/B-resolved §2.3).
 */
export async function getSignature(ctx: Ctx, signed: Signed): Promise<Signature> {
  const found = await ifFound(readSignature(signed.repo, signed.id, signed.signal))
  if (!found) throw notFound('Signature')
  const { details } = found
  if (details.kind === 'PGP') return await pgpSignature(ctx, signed, details)
  if (details.kind === 'SSH') {
    const { status, key } = await verifySsh(ctx, signed, details)
    if (!key) return { signature_type: 'SSH', ...statusOf(status), key: null }
    const { user_id: _owner, ...shown } = key
    return { signature_type: 'SSH', ...statusOf(status), key: shown }
  }
  const { status, check } = await verifyX509(ctx, signed)
  const signer = check.signer ?? details.signer
  const certificate = signer ? certificateOf(signer) : null
  return { signature_type: 'X509', ...statusOf(status), x509_certificate: certificate }
}

function statusOf(status: VerificationStatus) {
  return { verification_status: status, commit_source: COMMIT_SOURCE }
}

async function pgpSignature(
  ctx: Ctx,
  signed: Signed,
  details: Extract<SignatureDetails, { kind: 'PGP' }>,
): Promise<Signature> {
  const { status, key, person } = await verifyPgp(ctx, signed, details)
  return {
    signature_type: 'PGP',
    ...statusOf(status),
    gpg_key_id: key?.id ?? null,
    gpg_key_primary_keyid: (key?.key_id ?? details.keyId)?.toUpperCase() ?? null,
    gpg_key_user_name: person?.name ?? null,
    gpg_key_user_email: person?.email ?? null,
    gpg_key_subkey_id: key?.subkey_id ?? null,
  }
}

function certificateOf(signer: X509Signer) {
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
