import { createHash } from 'node:crypto'
import { dayOf, type Instant, later } from '../base/clock.ts'
import type { Config } from '../base/config.ts'
import {
  forbidden,
  insufficientScope,
  invalidToken,
  Problem,
  unauthorized,
} from '../base/problem.ts'
import type { Db } from '../store/schema.ts'
import { type Actor, type ActorUser, ANONYMOUS, type UserActor } from './actor.ts'
import type { Credentials } from './credentials.ts'
import {
  findTokenByDigest,
  findUserForActor,
  type TokenRow,
  touchToken,
} from './sign-in-queries.ts'

/** SHA-256 of a secret: what is stored and looked up instead of the secret itself. Tokens have ≥ 120 random bits. */
export function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** What authentication needs; a ctx has it all. */
export interface Door {
  readonly db: Db
  readonly ip: string
  readonly config: Pick<Config, 'vendor'>
  now(): Instant
}

/** How often `last_used_at` of a token is written: not on each request. */
const TOUCH_EVERY_MS = 60_000

/**
 * Who a request comes from, by its token (spec A-resolved §7). No credential is anonymous; a wrong one is never:
 * unknown → 401, expired or revoked → 401 invalid_token, blocked user → 403. Job and deploy tokens are looked at by the
 * routes that allow them (`signInWithJobToken`, `signInWithDeployToken`), here they are refused.
 */
export async function authenticate(door: Door, credentials: Credentials): Promise<Actor> {
  if (credentials.token === undefined || credentials.token === '') {
    if (credentials.jobToken || credentials.deployToken) throw unauthorized()
    if (credentials.sudo) throw unauthorized()
    return ANONYMOUS
  }
  const actor = await signInWithToken(door, credentials.token)
  return credentials.sudo === undefined ? actor : await sudo(door, actor, credentials.sudo)
}

/** The user behind a personal, project, group or impersonation token; throws as `authenticate` does. */
export async function signInWithToken(door: Door, secret: string): Promise<UserActor> {
  const row = await findTokenByDigest(door.db, digestOf(secret))
  if (!row) throw unauthorized()
  assertTokenLives(row, door.now(), door.config.vendor.prefix)
  const user = presentUser(row)
  assertUserMaySignIn(user)
  await touch(door, row)
  const scopes = JSON.parse(row.scopes) as string[] // written by us as a JSON list of words
  return {
    kind: 'user',
    user,
    token: { id: row.token_id, kind: row.token_kind, scopes },
    sudoBy: null,
  }
}

function assertTokenLives(row: TokenRow, now: Instant, realm: string): void {
  if (row.revoked === 1) {
    throw invalidToken('Token was revoked. You have to re-authorize from the user.', realm)
  }
  if (row.token_expires_at !== null && row.token_expires_at <= dayOf(now)) {
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

/** Blocked, deactivated and not yet approved users are refused with a reason (spec A-resolved §2). */
export function assertUserMaySignIn(user: ActorUser): void {
  if (user.state === 'active') return
  throw forbidden(BLOCKED_REASONS[user.state] ?? BLOCKED_REASONS.blocked)
}

async function touch(door: Door, row: TokenRow): Promise<void> {
  const now = door.now()
  if (row.last_used_at !== null && row.last_used_at > later(now, -TOUCH_EVERY_MS)) return
  await touchToken(door.db, row.token_id, row.id, now, door.ip)
}

function presentUser(row: Omit<TokenRow, 'token_id'>): ActorUser {
  return {
    id: row.id,
    username: row.username,
    name: row.name,
    email: row.email,
    state: row.state,
    kind: row.kind,
    admin: row.admin === 1,
    external: row.external === 1,
  }
}

async function sudo(door: Door, actor: UserActor, target: string): Promise<UserActor> {
  if (!actor.user.admin) throw forbidden('Must be admin to use sudo')
  if (!actor.token?.scopes.includes('sudo')) throw insufficientScope(['sudo'])
  const row = await findUserForActor(door.db, target)
  if (!row) {
    throw new Problem('not_found', 404, {
      message: `404 User with ID or username '${target}' Not Found`,
    })
  }
  const user: ActorUser = { ...row, admin: row.admin === 1, external: row.external === 1 }
  return { kind: 'user', user, token: actor.token, sudoBy: actor.user }
}
