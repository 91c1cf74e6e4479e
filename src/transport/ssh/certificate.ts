import { isSignedBySsh } from '../../git/objects/signature/verify-ssh.ts'

/** A certificate of OpenSSH (PROTOCOL.certkeys) for a user's key; who may say such a thing is not asked here. */
export interface SshCertificate {
  /** The key that it is about, in SSH's binary form. */
  readonly key: Buffer
  readonly keyType: string
  readonly serial: bigint
  readonly id: string
  readonly principals: readonly string[]
  /** Seconds since 1970; the second is the first at which it is over. */
  readonly validAfter: bigint
  readonly validBefore: bigint
  readonly criticalOptions: ReadonlyMap<string, Buffer>
  /** The key of the authority that signed it. */
  readonly authority: Buffer
}

/** How many fields a key of a type has behind its name. */
const fieldsOf: Readonly<Record<string, number>> = {
  'ssh-rsa': 2,
  'ssh-ed25519': 1,
  'ecdsa-sha2-nistp256': 2,
  'ecdsa-sha2-nistp384': 2,
  'ecdsa-sha2-nistp521': 2,
  'sk-ssh-ed25519@openssh.com': 2,
  'sk-ecdsa-sha2-nistp256@openssh.com': 3,
}

const USER = 1
const LONGEST = 16_384
const MOST_PRINCIPALS = 256

/** The type of key that a type of certificate is about; undefined for what is none. */
export function certifiedType(type: string): string | undefined {
  const plain = /^(.+)-cert-v01@openssh\.com$/.exec(type)?.[1]
  if (plain === undefined) return undefined
  const keyType = plain.startsWith('sk-') ? `${plain}@openssh.com` : plain
  return Object.hasOwn(fieldsOf, keyType) ? keyType : undefined
}

/** Reads a certificate whose signature is the one of the authority that it names; undefined for anything else. */
export function readCertificate(bytes: Buffer): SshCertificate | undefined {
  if (bytes.length > LONGEST) return undefined
  try {
    return read(new Reader(bytes))
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function read(reader: Reader): SshCertificate | undefined {
  const keyType = certifiedType(reader.text())
  if (keyType === undefined) return undefined
  reader.field()
  const fields = Array.from({ length: fieldsOf[keyType] ?? 0 }, () => reader.field())
  const serial = reader.long()
  if (reader.int() !== USER) return undefined
  const id = reader.text()
  const principals = listOf(reader.field()).map(String)
  const validAfter = reader.long()
  const validBefore = reader.long()
  const criticalOptions = optionsOf(reader.field())
  reader.field() // what it allows beyond commands: there is nothing of that here
  reader.field() // reserved
  const authority = reader.field()
  const signed = reader.before()
  const signature = reader.field()
  if (!criticalOptions || !reader.isAtEnd || principals.length > MOST_PRINCIPALS) return undefined
  if (!isSignedBySsh(authority, signature, signed)) return undefined
  const key = Buffer.concat([framed(Buffer.from(keyType)), ...fields.map(framed)])
  return {
    key,
    keyType,
    serial,
    id,
    principals,
    validAfter,
    validBefore,
    criticalOptions,
    authority,
  }
}

/** Fields one after the other; a RangeError where the bytes end too early. */
class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  before(): Buffer {
    return this.#bytes.subarray(0, this.#at)
  }

  int(): number {
    this.#at += 4
    return this.#bytes.readUInt32BE(this.#at - 4)
  }

  long(): bigint {
    this.#at += 8
    return this.#bytes.readBigUInt64BE(this.#at - 8)
  }

  field(): Buffer {
    const length = this.int()
    if (length > this.#bytes.length - this.#at) throw new RangeError('a field is too long')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  text(): string {
    return this.field().toString('utf8')
  }
}

function listOf(bytes: Buffer): Buffer[] {
  const reader = new Reader(bytes)
  const found: Buffer[] = []
  while (!reader.isAtEnd) found.push(reader.field())
  return found
}

/** Options by their names; undefined where one is given twice. */
function optionsOf(bytes: Buffer): Map<string, Buffer> | undefined {
  const fields = listOf(bytes)
  const options = new Map<string, Buffer>()
  for (let at = 0; at < fields.length; at += 2) {
    const name = String(fields[at])
    const value = fields[at + 1]
    if (!value || options.has(name)) return undefined
    options.set(name, value)
  }
  return options
}

/** The text of an option, which is a field within its field. */
export function optionText(value: Buffer): string | undefined {
  const [text, ...more] = listOf(value)
  return text && more.length === 0 ? text.toString('utf8') : undefined
}

function framed(bytes: Buffer): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32BE(bytes.length)
  return Buffer.concat([size, bytes])
}
