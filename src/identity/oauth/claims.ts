import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { avatarUrl } from '../users/basic.ts'
import { type findTokenUser, listGroupPaths } from './queries.ts'

type TokenUser = NonNullable<Awaited<ReturnType<typeof findTokenUser>>>

/** The claims of OpenID Connect about a user, by the scopes that the user has let an application have. */
export async function claimsOf(
  ctx: Ctx,
  user: TokenUser,
  scopes: readonly string[],
): Promise<Record<string, unknown>> {
  const claims: Record<string, unknown> = { sub: String(user.id) }
  if (scopes.includes('profile') || scopes.includes('openid')) {
    claims.name = user.name
    claims.nickname = user.username
    claims.preferred_username = user.username
    claims.profile = `${ctx.config.externalUrl}/${user.username}`
    claims.picture = avatarUrl(ctx, 'user', user.id, user)
    if (user.website_url) claims.website = user.website_url
    claims.groups = await listGroupPaths(ctx.db, user.id, dayOf(ctx.now()))
  }
  if (scopes.includes('email')) {
    claims.email = user.email
    claims.email_verified = user.confirmed_at !== null
  }
  return claims
}
