import {
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  exportPKCS8,
  generateKeyPair,
  importPKCS8,
} from 'jose'
import type { Ctx } from '../../ctx.ts'

/** The key that signs identity tokens. */
export interface SigningKey {
  readonly key: CryptoKey
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
const ALGORITHM = 'RS256'

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
  if (typeof sealed === 'string') return describe(await open(ctx.vault.open(sealed, PURPOSE)))
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true })
  const pem = await exportPKCS8(privateKey)
  await ctx.settings.saveDocument(ctx.db, DOCUMENT, ctx.vault.seal(pem, PURPOSE))
  return describe(privateKey)
}

function open(pem: string): Promise<CryptoKey> {
  return importPKCS8(pem, ALGORITHM, { extractable: true })
}

async function describe(key: CryptoKey): Promise<SigningKey> {
  // The private members stay here.
  const { n = '', e = '' } = await exportJWK(key)
  const id = await calculateJwkThumbprint({ kty: 'RSA', n, e })
  return { key, id, jwk: { kty: 'RSA', n, e, kid: id, use: 'sig', alg: ALGORITHM } }
}
