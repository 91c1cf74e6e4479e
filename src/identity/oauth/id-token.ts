import { sign } from 'node:crypto'
import type { Ctx } from '../../ctx.ts'
import { claimsOf } from './claims.ts'
import { findTokenUser } from './queries.ts'
import { signingKey } from './signing-key.ts'

const LIFETIME_S = 120

/** The identity token of OpenID Connect, for whoever asked for the scope `openid`; undefined for all others. */
export async function makeIdToken(
  ctx: Ctx,
  given: {
    readonly application: { readonly uid: string } | undefined
    readonly userId: number | null
    readonly scopes: readonly string[]
    readonly nonce?: string | null | undefined
  },
): Promise<string | undefined> {
  if (!given.application || given.userId === null || !given.scopes.includes('openid')) return
  const user = await findTokenUser(ctx.db, given.userId)
  if (!user) return undefined
  const now = Math.floor(Date.parse(ctx.now()) / 1000)
  const { key, id } = await signingKey(ctx)
  const head = { typ: 'JWT', alg: 'RS256', kid: id }
  const body = {
    iss: ctx.config.externalUrl,
    aud: given.application.uid,
    exp: now + LIFETIME_S,
    iat: now,
    ...(given.nonce ? { nonce: given.nonce } : {}),
    ...(await claimsOf(ctx, user, given.scopes)),
  }
  const text = `${encode(head)}.${encode(body)}`
  return `${text}.${sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')}`
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
