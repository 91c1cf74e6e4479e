import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()

/** Bytes in CBOR in the shortest form, of 24 bytes to 64 kB. */
function cborBytes(bytes: Buffer): Buffer {
  const { length } = bytes
  const head = length < 256 ? [0x58, length] : [0x59, length >> 8, length & 255]
  return Buffer.concat([Buffer.from(head), bytes])
}

/** How an authenticator that does as it should differs from one that does not. */
export interface Deviation {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  /** The counter that it says. */
  readonly count?: number
  readonly withoutPin?: boolean
  readonly type?: string
  readonly userHandle?: string
  /** Signs with the key of somebody else. */
  readonly signedBy?: Authenticator
}

interface Asked {
  readonly challenge: string
}

/** A passkey in software, which can also do what no real one does. */
export class Authenticator {
  readonly origin: string
  readonly id = randomBytes(16)
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  #count = 0
  #userHandle = ''

  constructor(origin: string) {
    this.origin = origin
  }

  get privateKey(): KeyObject {
    return this.#keys.privateKey
  }

  #clientData(type: string, asked: Asked, change: Deviation): Buffer {
    const { challenge = asked.challenge, origin = this.origin } = change
    const data = { type: change.type ?? type, challenge, origin, crossOrigin: false }
    return Buffer.from(JSON.stringify(data))
  }

  #data(change: Deviation, more: Buffer): Buffer {
    const { rpId = new URL(this.origin).hostname, count = ++this.#count } = change
    const flags = 0x01 | (change.withoutPin ? 0 : 0x04) | (more.length > 0 ? 0x40 : 0)
    const head = Buffer.alloc(5)
    head[0] = flags
    head.writeUInt32BE(count, 1)
    return Buffer.concat([sha256(rpId), head, more])
  }

  #answer(response: object): string {
    const id = this.id.toString('base64url')
    const extensions = { credProps: { rk: true } }
    return JSON.stringify({
      id,
      rawId: id,
      type: 'public-key',
      response,
      clientExtensionResults: extensions,
    })
  }

  /** Makes a key, as a browser sends it. */
  create(
    asked: Asked & { readonly user: { readonly id: string } },
    change: Deviation = {},
  ): string {
    this.#userHandle = asked.user.id
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' })
    const publicKey = Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
      cborBytes(Buffer.from(x, 'base64url')),
      Buffer.from([0x22]),
      cborBytes(Buffer.from(y, 'base64url')),
    ])
    const length = Buffer.from([0, this.id.length])
    const data = this.#data(change, Buffer.concat([Buffer.alloc(16), length, this.id, publicKey]))
    const attestationObject = Buffer.concat([
      Buffer.from([0xa3, 0x63, ...Buffer.from('fmt'), 0x64, ...Buffer.from('none')]),
      Buffer.from([0x67, ...Buffer.from('attStmt'), 0xa0, 0x68, ...Buffer.from('authData')]),
      cborBytes(data),
    ])
    return this.#answer({
      clientDataJSON: this.#clientData('webauthn.create', asked, change).toString('base64url'),
      attestationObject: attestationObject.toString('base64url'),
      transports: ['internal'],
    })
  }

  /** Signs a challenge, as a browser sends it. */
  get(asked: Asked, change: Deviation = {}): string {
    const data = this.#data(change, Buffer.alloc(0))
    const clientData = this.#clientData('webauthn.get', asked, change)
    const key = (change.signedBy ?? this).privateKey
    const signature = sign('sha256', Buffer.concat([data, sha256(clientData)]), key)
    return this.#answer({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: change.userHandle ?? this.#userHandle,
    })
  }
}
