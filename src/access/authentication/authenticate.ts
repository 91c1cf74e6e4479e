import { dayOf } from '../../base/clock.ts'
import { unlessDiskFull } from '../../base/full-disk.ts'
import {
  forbidden,
  insufficientScope,
  invalidToken,
  Problem,
  unauthorized,
} from '../../base/problem.ts'
import { type Actor, type ActorUser, ANONYMOUS, actorUser, type UserActor } from '../actor.ts'
import { digestOf, isDue } from '../token-use.ts'
import type { AuthenticationContext } from './authentication-context.ts'
import type { TokenPurpose } from './client-token.ts'
import { type Credentials, hasScope } from './credentials.ts'
import { findDeployToken } from './deploy-token.ts'
import { signInWithJobToken } from './job-token.ts'
import { signInWithSession } from './session.ts'
import {
  findOauthTokenByDigest,
  findTokenByDigest,
  findUserForActor,
  touchOauthToken,
  touchToken,
} from './sign-in-queries.ts'

/** Which credentials an endpoint admits beside tokens of users. */
export interface Admits {
  /** Scopes of which a deploy token needs one; none: deploy tokens are refused. */
  readonly deployToken: readonly string[]
  /** Job tokens may call it (docs/contract/D §2.5). */
  readonly jobToken?: boolean
  /** A browser's session counts even while its user must do something first. */
  readonly whileDue?: boolean | undefined
  /** Package managers and the like, which send any kind of token as Bearer or as the password of Basic. */
  readonly client?:
    | {
        readonly issued?: { readonly purpose: TokenPurpose }
        readonly userName?: 'ignored' | 'own'
      }
    | undefined
}

/**
 * Who a request comes from (docs/contract/A-resolved §7). No credential is anonymous; a wrong one is never: unknown → 401,
 * expired or revoked → 401 invalid_token, blocked user → 403. Deploy tokens are looked at only where an endpoint admits
 * them, and elsewhere refused.
 */
export async function authenticate(
  context: AuthenticationContext,
  credentials: Credentials,
  admits: Admits = { deployToken: [] },
): Promise<Actor> {
  return await actAsAsked(context, credentials, await signIn(context, credentials, admits))
}

/** The user whom a caller asks to act as, or the caller: who asks to be another never acts as themself. */
export async function actAsAsked(
  context: AuthenticationContext,
  credentials: Credentials,
  actor: Actor,
): Promise<Actor> {
  if (credentials.sudo === undefined) return actor
  if (actor.kind === 'anonymous') throw unauthorized()
  return await sudo(context, actor, credentials.sudo)
}

async function signIn(
  context: AuthenticationContext,
  credentials: Credentials,
  admits: Admits,
): Promise<Actor> {
  if (credentials.deployToken)
    return await signInWithDeployToken(context, credentials.deployToken, admits)
  if (credentials.token) {
    // A job may send its token as people send theirs.
    const isPlain = !credentials.isBearer || !admits.jobToken
    if (isPlain) return await signInWithToken(context, credentials.token)
    const user = await findActorByToken(context, credentials.token)
    return user ?? (await signInWithJobToken(context, credentials.token))
  }
  if (credentials.session && !credentials.jobToken)
    return await signInWithSession(context, credentials.session, admits.whileDue ?? false)
  if (!credentials.jobToken) return ANONYMOUS
  if (!admits.jobToken) throw unauthorized()
  return await signInWithJobToken(context, credentials.jobToken)
}

async function signInWithDeployToken(
  context: AuthenticationContext,
  secret: string,
  admits: Admits,
): Promise<Actor> {
  const actor = await findDeployToken(context, { password: secret })
  if (!actor || !hasScope(actor, admits.deployToken)) throw unauthorized()
  return actor
}

/** The user behind a personal, project, group, impersonation or OAuth token; throws as `authenticate` does. */
export async function signInWithToken(
  context: AuthenticationContext,
  secret: string,
): Promise<UserActor> {
  const actor = await findActorByToken(context, secret)
  if (!actor) throw unauthorized()
  return actor
}

/** As `signInWithToken`, and undefined when no token has this secret. */
export async function findActorByToken(
  context: AuthenticationContext,
  secret: string,
): Promise<UserActor | undefined> {
  const digest = digestOf(secret)
  const row = await findTokenByDigest(context.db, digest)
  if (!row) return findActorByOauthToken(context, digest)
  const now = context.now()
  assertTokenLives(context, {
    revoked: row.revoked === 1,
    expired: row.token_expires_at !== null && row.token_expires_at <= dayOf(now),
  })
  if (row.token_kind === 'impersonation' && !context.settings.get('impersonation_enabled')) {
    const text = 'Token is an impersonation token but impersonation was disabled.'
    throw invalidToken(text, context.config.vendor.prefix)
  }
  const user = actorUser(row)
  assertUserMaySignIn(user)
  if (isDue(row.last_used_at, now)) {
    const addresses = recentAddresses(row.last_used_ips, context.ip)
    await unlessDiskFull(touchToken(context.db, row.token_id, now, addresses))
  }
  const scopes = JSON.parse(row.scopes) as string[] // written by us as a JSON list of words
  const token = { id: row.token_id, kind: row.token_kind, scopes }
  return { kind: 'user', user, token, sudoBy: null }
}

async function findActorByOauthToken(
  context: AuthenticationContext,
  digest: Buffer,
): Promise<UserActor | undefined> {
  const row = await findOauthTokenByDigest(context.db, digest)
  if (!row) return undefined
  const now = context.now()
  assertTokenLives(context, {
    revoked: row.revoked_at !== null,
    expired: row.token_expires_at <= now,
  })
  const user = actorUser(row)
  assertUserMaySignIn(user)
  if (isDue(row.last_used_at, now))
    await unlessDiskFull(touchOauthToken(context.db, row.token_id, now))
  const scopes = JSON.parse(row.scopes) as string[] // written by us as a JSON list of words
  return { kind: 'user', user, token: { id: row.token_id, kind: 'oauth', scopes }, sudoBy: null }
}

function assertTokenLives(
  context: AuthenticationContext,
  token: { revoked: boolean; expired: boolean },
): void {
  const realm = context.config.vendor.prefix
  if (token.revoked) {
    throw invalidToken('Token was revoked. You have to re-authorize from the user.', realm)
  }
  if (token.expired) {
    throw invalidToken(
      'Token is expired. You can either do re-authorization or token refresh.',
      realm,
    )
  }
}

const BLOCKED_REASONS: Readonly<Record<string, string>> = {
  blocked: 'Your account has been blocked.',
  ldap_blocked: 'Your account has been blocked.',
  banned: 'Your account has been blocked.',
  deactivated:
    'Your account has been deactivated by your administrator. Please log back in to reactivate your account.',
  blocked_pending_approval:
    'Your account is pending approval from your administrator and hence blocked.',
}

/** Blocked, deactivated and not yet approved users are refused with a reason (docs/contract/A-resolved §2). */
export function assertUserMaySignIn(user: ActorUser): void {
  if (user.state === 'active') return
  throw forbidden(BLOCKED_REASONS[user.state] ?? BLOCKED_REASONS.blocked)
}

/** The last few addresses that a token was used from, newest first. */
function recentAddresses(known: string, ip: string): string[] {
  const before = JSON.parse(known) as string[] // written by us as a JSON list of words
  return [...new Set([ip, ...before])].filter((one) => one !== '').slice(0, 7)
}

/** The user whom an administrator asks to act as; throws as docs/contract/D §0.4 says. */
async function sudo(
  context: AuthenticationContext,
  actor: Actor,
  target: string,
): Promise<UserActor> {
  // Jobs and deploy tokens have nobody's rights over others.
  if (actor.kind !== 'user' || !actor.user.admin) throw forbidden('Must be admin to use sudo')
  if (!actor.token?.scopes.includes('sudo')) throw insufficientScope(['sudo'])
  const row = await findUserForActor(context.db, target)
  if (!row) {
    throw new Problem('not_found', 404, {
      message: `404 User with ID or username '${target}' Not Found`,
    })
  }
  return { kind: 'user', user: actorUser(row), token: actor.token, sudoBy: actor.user }
}
