import { unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { avatarUrl } from '../users/basic.ts'
import { getUser } from '../users/find-user.ts'
import { findApplication } from './queries.ts'
import { findLiveToken } from './tokens.ts'

/** What a token is good for, or undefined when it is good for nothing (spec D §1.1). */
export async function readTokenInfo(ctx: Ctx, secret: string) {
  const row = await findLiveToken(ctx, secret)
  if (!row) return undefined
  const application =
    row.application_id === null ? undefined : await findApplication(ctx.db, row.application_id)
  const seconds = (time: string) => Math.floor(Date.parse(time) / 1000)
  return {
    resource_owner_id: row.user_id,
    scope: JSON.parse(row.scopes) as string[], // written by us as a JSON list of words
    expires_in: Math.max(0, seconds(row.expires_at) - seconds(ctx.now())),
    application: { uid: application?.uid ?? null },
    created_at: seconds(row.created_at),
    lifetime: seconds(row.expires_at) - seconds(row.created_at),
  }
}

/** Who the token belongs to, in the claims of OpenID; needs the scope `openid`. */
export async function readUserInfo(ctx: Ctx, secret: string) {
  const row = await findLiveToken(ctx, secret)
  const scopes = row ? (JSON.parse(row.scopes) as string[]) : [] // written by us
  if (!row || row.user_id === null || !scopes.includes('openid')) throw unauthorized()
  const user = await getUser(ctx, row.user_id)
  const profile = {
    name: user.name,
    nickname: user.username,
    preferred_username: user.username,
    website: user.website_url ?? '',
    profile: `${ctx.config.externalUrl}/${user.username}`,
    picture: avatarUrl(ctx, 'user', user.id, user),
  }
  const email = { email: user.email, email_verified: user.confirmed_at !== null }
  return {
    sub: String(user.id),
    ...(scopes.includes('profile') ? profile : {}),
    ...(scopes.includes('email') ? email : {}),
  }
}
