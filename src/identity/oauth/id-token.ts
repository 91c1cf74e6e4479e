import { SignJWT } from 'jose'
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
  const claims = await claimsOf(ctx, user, given.scopes)
  return new SignJWT({ ...(given.nonce ? { nonce: given.nonce } : {}), ...claims })
    .setProtectedHeader({ typ: 'JWT', alg: 'RS256', kid: id })
    .setIssuer(ctx.config.externalUrl)
    .setAudience(given.application.uid)
    .setIssuedAt(now)
    .setExpirationTime(now + LIFETIME_S)
    .sign(key)
}
