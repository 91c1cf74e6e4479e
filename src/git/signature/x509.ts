import { X509Certificate } from 'node:crypto'
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

interface Element {
  readonly tag: number
  readonly whole: Buffer
  readonly body: Buffer
}

/** One DER element at the start of the bytes; undefined when they are damaged. */
function readElement(data: Buffer): Element | undefined {
  const [tag, first] = data
  if (tag === undefined || first === undefined) return undefined
  let size = first
  let start = 2
  if (first & 0x80) {
    const digits = first & 0x7f
    // Indefinite lengths (BER) end where two zeros stand; the rest is taken instead.
    if (digits === 0) size = data.length - start
    else if (digits > 4 || data.length < 2 + digits) return undefined
    else size = data.readUIntBE(2, digits)
    start += digits
  }
  if (start + size > data.length) return undefined
  return { tag, whole: data.subarray(0, start + size), body: data.subarray(start, start + size) }
}

function children(data: Buffer): Element[] {
  const found: Element[] = []
  for (let rest = data; rest.length > 0; ) {
    const element = readElement(rest)
    if (!element) break
    found.push(element)
    rest = rest.subarray(element.whole.length)
  }
  return found
}

const certificates = 0xa0
const sequence = 0x30

/** The certificates of a CMS SignedData (RFC 5652 §5.1). */
function readCertificates(data: Buffer): X509Certificate[] {
  const content = children(readElement(data)?.body ?? Buffer.alloc(0))[1]
  const signedData = readElement(content?.body ?? Buffer.alloc(0))
  const set = children(signedData?.body ?? Buffer.alloc(0)).find(({ tag }) => tag === certificates)
  return children(set?.body ?? Buffer.alloc(0))
    .filter(({ tag }) => tag === sequence)
    .flatMap(({ whole }) => {
      try {
        return [new X509Certificate(whole)]
      } catch {
        return []
      }
    })
}

/** The value of an extension, found by its object identifier. */
function extension(
  certificate: X509Certificate,
  identifier: readonly number[],
): Buffer | undefined {
  const pattern = Buffer.from([0x06, identifier.length, ...identifier])
  const at = certificate.raw.indexOf(pattern)
  if (at < 0) return undefined
  return children(certificate.raw.subarray(at + pattern.length)).find(({ tag }) => tag === 0x04)
    ?.body
}

function colons(bytes: Buffer): string {
  return (bytes.toString('hex').toUpperCase().match(/../g) ?? []).join(':')
}

function keyIdentifier(certificate: X509Certificate): string | undefined {
  const value = readElement(extension(certificate, [0x55, 0x1d, 0x0e]) ?? Buffer.alloc(0))
  return value && colons(value.body)
}

function authorityIdentifier(certificate: X509Certificate): string | undefined {
  const value = readElement(extension(certificate, [0x55, 0x1d, 0x23]) ?? Buffer.alloc(0))
  const key = children(value?.body ?? Buffer.alloc(0)).find(({ tag }) => tag === 0x80)
  return key && colons(key.body)
}

function crlUrl(certificate: X509Certificate): string | undefined {
  const value = extension(certificate, [0x55, 0x1d, 0x1f])
  return /https?:\/\/[\x21-\x7e]+/.exec(value?.toString('latin1') ?? '')?.[0]
}

/** Node writes one part a line, most general first. */
function oneLine(name: string): string {
  return name.split('\n').toReversed().join(',')
}

function emailOf(certificate: X509Certificate): string | undefined {
  const named = /(?:^|, )email:([^,]+)/.exec(certificate.subjectAltName ?? '')?.[1]
  return named ?? /^emailAddress=(.+)$/m.exec(certificate.subject)?.[1]
}

/** Who signed, from an armoured CMS signature; undefined when it holds no certificate. */
export function readX509Signer(armoured: string): X509Signer | undefined {
  const data = dearmour(armoured)
  if (!data) return undefined
  const all = readCertificates(data)
  // Authorities come along to complete the chain; the signer is none.
  const signer = all.find((certificate) => !certificate.ca) ?? all[0]
  return signer && describeCertificate(signer)
}

/** What a certificate says about its owner and about who vouches for them. */
export function describeCertificate(signer: X509Certificate): X509Signer {
  return {
    subject: oneLine(signer.subject),
    issuer: oneLine(signer.issuer),
    serialNumber: signer.serialNumber,
    email: emailOf(signer),
    subjectKeyIdentifier: keyIdentifier(signer),
    issuerKeyIdentifier: authorityIdentifier(signer),
    crlUrl: crlUrl(signer),
    validFrom: signer.validFrom,
    validTo: signer.validTo,
  }
}
