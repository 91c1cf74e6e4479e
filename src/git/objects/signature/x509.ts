import { webcrypto, X509Certificate } from 'node:crypto'
import type { Certificate, SignedData } from 'pkijs'
import { dearmour } from './armour.ts'

/** The signer's certificate in a CMS signature, and its issuer. */
export interface X509Signer {
  /** `CN=Ana,O=Example`, most specific part first. */
  readonly subject: string
  readonly issuer: string
  readonly serialNumber: string
  readonly email?: string | undefined
  /** Hex pairs with colons, upper case. */
  readonly subjectKeyIdentifier?: string | undefined
  readonly issuerKeyIdentifier?: string | undefined
  readonly crlUrl?: string | undefined
  readonly validFrom: string
  readonly validTo: string
}

// Loading takes time and memory: only processes that see such a signature pay for it.
export async function loadPkijs() {
  const pkijs = await import('pkijs')
  // The same interface by two names.
  const crypto = webcrypto as unknown as ConstructorParameters<
    typeof pkijs.CryptoEngine
  >[0]['crypto']
  pkijs.setEngine('node', new pkijs.CryptoEngine({ name: 'node', crypto }))
  return pkijs
}

export function arrayOf(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}

/** The parts of an armoured CMS signature; undefined when it is damaged. */
export async function readSignedData(armoured: string): Promise<SignedData | undefined> {
  const data = dearmour(armoured)
  if (!data) return undefined
  const { ContentInfo, SignedData } = await loadPkijs()
  try {
    const content = ContentInfo.fromBER(arrayOf(data))
    return new SignedData({ schema: content.content })
  } catch {
    return undefined
  }
}

/** The certificates that came along. */
export async function certificatesOf(signed: SignedData): Promise<Certificate[]> {
  const { Certificate } = await loadPkijs()
  return (signed.certificates ?? []).filter((one) => one instanceof Certificate)
}

const identifiers = { subjectKey: '2.5.29.14', issuerKey: '2.5.29.35', crl: '2.5.29.31' } as const

function extension(certificate: Certificate, identifier: string): unknown {
  return certificate.extensions?.find(({ extnID }) => extnID === identifier)?.parsedValue
}

function colons(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString('hex').toUpperCase().match(/../g)?.join(':')
}

const isUrl = 6

async function extensionsOf(certificate: Certificate) {
  const { AuthorityKeyIdentifier, CRLDistributionPoints } = await loadPkijs()
  const { OctetString } = await import('asn1js')
  const own = extension(certificate, identifiers.subjectKey)
  const issuer = extension(certificate, identifiers.issuerKey)
  const crl = extension(certificate, identifiers.crl)
  const points = crl instanceof CRLDistributionPoints ? crl.distributionPoints : []
  const names = points.flatMap(({ distributionPoint }) =>
    Array.isArray(distributionPoint) ? distributionPoint : [],
  )
  const url: unknown = names.find(({ type }) => type === isUrl)?.value
  return {
    subjectKeyIdentifier:
      own instanceof OctetString ? colons(own.valueBlock.valueHexView) : undefined,
    issuerKeyIdentifier:
      issuer instanceof AuthorityKeyIdentifier
        ? colons(issuer.keyIdentifier?.valueBlock.valueHexView)
        : undefined,
    crlUrl: typeof url === 'string' && /^https?:/.test(url) ? url : undefined,
  }
}

/** Node writes one part a line, most general first. */
function oneLine(name: string): string {
  return name.split('\n').toReversed().join(',')
}

/** The addresses of a certificate's owner, those of the alternative names first. */
export function emailsOf(certificate: X509Certificate): string[] {
  const named = [...(certificate.subjectAltName ?? '').matchAll(/(?:^|, )email:([^,\s"]+)/g)]
  const inSubject = [...certificate.subject.matchAll(/^emailAddress=(.+)$/gm)]
  return [...named, ...inSubject].map(([, email = '']) => email)
}

/** Who signed, from an armoured CMS signature; undefined when it holds no certificate. */
export async function readX509Signer(armoured: string): Promise<X509Signer | undefined> {
  const signed = await readSignedData(armoured)
  const all = (signed ? await certificatesOf(signed) : []).flatMap((one) => {
    try {
      return [openCertificate(one)]
    } catch {
      return []
    }
  })
  // Authorities come along to complete the chain; the signer is none.
  const signer = all.find(({ known }) => !known.ca) ?? all[0]
  return signer && describeCertificate(signer)
}

/** A certificate as both libraries see it: node writes names and times as people read them. */
export interface OpenCertificate {
  readonly parsed: Certificate
  readonly known: X509Certificate
}

export function openCertificate(parsed: Certificate): OpenCertificate {
  return { parsed, known: new X509Certificate(Buffer.from(parsed.toSchema(true).toBER())) }
}

/** What a certificate says about its owner and about who vouches for them. */
export async function describeCertificate({ parsed, known }: OpenCertificate): Promise<X509Signer> {
  return {
    subject: oneLine(known.subject),
    issuer: oneLine(known.issuer),
    serialNumber: known.serialNumber,
    email: emailsOf(known)[0],
    ...(await extensionsOf(parsed)),
    validFrom: known.validFrom,
    validTo: known.validTo,
  }
}
