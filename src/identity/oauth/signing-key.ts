import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
} from 'node:crypto'
import { promisify } from 'node:util'
import type { Ctx } from '../../ctx.ts'

/** The key that signs identity tokens. */
export interface SigningKey {
  readonly key: KeyObject
  readonly id: string
  /** Its public half, as RFC 7517 writes it. */
  readonly jwk: {
    readonly kty: 'RSA'
    readonly n: string
    readonly e: string
    readonly kid: string
    readonly use: 'sig'
    readonly alg: 'RS256'
  }
}

const DOCUMENT = 'openid_signing_key'
const PURPOSE = 'openid.signing_key'
const generate = promisify(generateKeyPair)

const known = new WeakMap<object, Promise<SigningKey>>()

/** The instance's key; made when the first one asks, kept sealed in the database. */
export function signingKey(ctx: Pick<Ctx, 'db' | 'settings' | 'vault'>): Promise<SigningKey> {
  const before = known.get(ctx.settings)
  if (before) return before
  const key = readOrMake(ctx)
  known.set(ctx.settings, key)
  key.catch(() => known.delete(ctx.settings))
  return key
}

async function readOrMake(ctx: Pick<Ctx, 'db' | 'settings' | 'vault'>): Promise<SigningKey> {
  const sealed = ctx.settings.document(DOCUMENT)
  if (typeof sealed === 'string') return describe(createPrivateKey(ctx.vault.open(sealed, PURPOSE)))
  const { privateKey } = await generate('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  await ctx.settings.saveDocument(ctx.db, DOCUMENT, ctx.vault.seal(pem, PURPOSE))
  return describe(privateKey)
}

function describe(key: KeyObject): SigningKey {
  const { n = '', e = '' } = createPublicKey(key).export({ format: 'jwk' })
  // The thumbprint of RFC 7638: members in alphabetical order.
  const id = createHash('sha256')
    .update(JSON.stringify({ e, kty: 'RSA', n }))
    .digest('base64url')
  return { key, id, jwk: { kty: 'RSA', n, e, kid: id, use: 'sig', alg: 'RS256' } }
}
