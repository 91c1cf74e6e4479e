import { X509Certificate } from 'node:crypto'
import type { Instant } from '../../base/clock.ts'

/** What a certificate says of itself. */
export interface CertificateFacts {
  readonly id: string
  readonly issuer: Readonly<Record<string, string>>
  readonly subject: Readonly<Record<string, string>>
  readonly expires_at: Instant
}

/** The facts of a certificate (DER or PEM); undefined for any other file. */
export function readCertificate(bytes: Buffer): CertificateFacts | undefined {
  try {
    const found = new X509Certificate(bytes)
    return {
      id: BigInt(`0x${found.serialNumber}`).toString(),
      issuer: namesIn(found.issuer),
      subject: namesIn(found.subject),
      expires_at: new Date(found.validTo).toISOString(),
    }
  } catch {
    return undefined
  }
}

/** `CN=One\nO=Two` as a map. */
function namesIn(lines: string): Record<string, string> {
  return Object.fromEntries(
    (lines ?? '').split('\n').flatMap((line) => {
      const at = line.indexOf('=')
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)] as const] : []
    }),
  )
}
