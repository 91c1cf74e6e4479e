import type { X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import type { Certificate, SignedData } from 'pkijs'
import {
  arrayOf,
  certificatesOf,
  describeCertificate,
  emailsOf,
  loadPkijs,
  openCertificate,
  readSignedData,
  type X509Signer,
} from './x509.ts'

export interface X509Check {
  /** The signature is over these bytes, by the key of the certificate it names. */
  readonly valid: boolean
  /** An authority that this server trusts vouches for the certificate, at the time of signing. */
  readonly trusted: boolean
  /** When the signer says that it was signed: ISO 8601. */
  readonly signedAt?: string | undefined
  readonly signer?: X509Signer | undefined
  /** All addresses of the certificate, lower case. */
  readonly emails: readonly string[]
}

const nothing: X509Check = { valid: false, trusted: false, emails: [] }
const signingTime = '1.2.840.113549.1.9.5'
// Purposes that make sense for commits: any, e-mail, code. A certificate without purposes serves all.
const purposes = ['2.5.29.37.0', '1.3.6.1.5.5.7.3.4', '1.3.6.1.5.5.7.3.3']

function signedAt(signed: SignedData): Date | undefined {
  const attribute = signed.signerInfos[0]?.signedAttrs?.attributes.find(
    ({ type }) => type === signingTime,
  )
  const value: unknown = attribute?.values[0]
  if (typeof value !== 'object' || value === null || !('toDate' in value)) return undefined
  const { toDate } = value
  if (typeof toDate !== 'function') return undefined
  const date: unknown = toDate.call(value)
  return date instanceof Date && Number.isFinite(date.getTime()) ? date : undefined
}

interface Authorities {
  readonly path: string
  readonly changed: number
  readonly all: readonly Certificate[]
}

let known: Authorities | undefined
const block = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g

/** The authorities in a PEM file, read again when it changes; a missing file trusts nobody. */
async function readAuthorities(path: string): Promise<readonly Certificate[]> {
  const { Certificate } = await loadPkijs()
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) return []
  if (known?.path === path && known.changed === found.mtimeMs) return known.all
  const text = await readFile(path, 'latin1')
  const all = [...text.matchAll(block)].flatMap(([, body = '']) => {
    try {
      return [Certificate.fromBER(arrayOf(Buffer.from(body, 'base64')))]
    } catch {
      return []
    }
  })
  known = { path, changed: found.mtimeMs, all }
  return all
}

async function isTrusted(
  signer: Certificate,
  others: readonly Certificate[],
  path: string,
  date: Date,
): Promise<boolean> {
  const { CertificateChainValidationEngine } = await loadPkijs()
  const given = others.filter((one) => one !== signer)
  const wanted = [signer, ...given]
  const authorities = (await readAuthorities(path)).filter((authority) =>
    wanted.some((one) => one.issuer.isEqual(authority.subject)),
  )
  if (authorities.length === 0) return false
  const chain = new CertificateChainValidationEngine({
    trustedCerts: authorities,
    // The one in question comes last.
    certs: [...given, signer],
    checkDate: date,
  })
  return (await chain.verify().catch(() => undefined))?.result === true
}

function isForSigning(certificate: X509Certificate): boolean {
  // Node calls the extended purposes so; without them it gives undefined.
  const named: readonly string[] | undefined = certificate.keyUsage
  return named === undefined || named.some((one) => purposes.includes(one))
}

/** Checks an armoured CMS signature over `payload` with the authorities of a PEM file. */
export async function verifyX509Signature(
  armoured: string,
  payload: Buffer,
  options: { readonly authorities: string; readonly writtenAt: Date },
): Promise<X509Check> {
  const signed = await readSignedData(armoured)
  // What carries content of its own would be checked over that instead.
  if (signed?.signerInfos.length !== 1 || signed.encapContentInfo.eContent) return nothing
  const result = await signed
    .verify({ signer: 0, data: arrayOf(payload), extendedMode: true })
    .catch(() => undefined)
  const found = result?.signerCertificate
  if (!found) return nothing
  const certificate = openCertificate(found)
  const others = await certificatesOf(signed)
  const made = signedAt(signed)
  const date = made ?? options.writtenAt
  const trusted =
    isForSigning(certificate.known) && (await isTrusted(found, others, options.authorities, date))
  return {
    valid: result.signatureVerified === true,
    trusted,
    signedAt: made?.toISOString(),
    signer: await describeCertificate(certificate),
    emails: emailsOf(certificate.known).map((email) => email.toLowerCase()),
  }
}
