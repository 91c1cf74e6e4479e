import { createHash, timingSafeEqual } from 'node:crypto'
import type { z } from 'zod'
import {
  findOauthToken,
  type OauthTokenRow,
  revokeGrantTokens,
  revokeOauthFamily,
  revokeOauthToken,
} from '../../access/authentication/oauth-token-queries.ts'
import { signInWithPassword } from '../../access/authentication/sign-in-basic.ts'
import { ADMIN_ONLY_SCOPES } from '../../access/scopes.ts'
import { digestOf } from '../../access/token-use.ts'
import { later } from '../../base/clock.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { text } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import { missing, type OauthFault, oauthFault } from './faults.ts'
import { type Issued, issueOauthToken, type TokenAnswer } from './issue.ts'
import {
  type ApplicationRow,
  type DeviceRow,
  deleteDevice,
  findDevice,
  findGrantByCode,
  findTokenUser,
  type GrantRow,
  markGrantUsed,
  notePoll,
} from './queries.ts'
import { grantedScopes, readScopes, scopesOf } from './scopes.ts'

/** The parameters of the token endpoint. */
export const tokenParams = {
  code: text().optional(),
  redirect_uri: text().optional(),
  code_verifier: text().optional(),
  refresh_token: text().optional(),
  username: text().optional(),
  password: text({ max: 10_000 }).optional(),
  device_code: text().optional(),
  scope: text().optional(),
}
export type TokenParams = z.infer<z.ZodObject<typeof tokenParams>>

/** A token that was made, with what it was made for. */
export interface Made {
  readonly answer: TokenAnswer
  readonly issued: Issued
}

const ADMIN_ONLY: ReadonlySet<string> = new Set(ADMIN_ONLY_SCOPES)

type Client = ApplicationRow | undefined
type Grant = (ctx: Ctx, client: Client, params: TokenParams) => Promise<Made>

async function issue(ctx: Ctx, asked: Issued): Promise<Made> {
  const user = asked.userId === null ? undefined : await findTokenUser(ctx.db, asked.userId)
  // A person who becomes an administrator later must not find that an old token may do all.
  const mayHave = (scope: string) => !ADMIN_ONLY.has(scope) || user?.admin === 1
  const issued = { ...asked, scopes: asked.scopes.filter(mayHave) }
  return { answer: await issueOauthToken(ctx, issued), issued }
}

function needed(client: Client): ApplicationRow {
  if (!client) throw oauthFault('invalid_client')
  return client
}

/** Runs in a transaction; a fault that is returned, not thrown, keeps what was written before it. */
async function decide(ctx: Ctx, act: (inner: Ctx) => Promise<Made | OauthFault>): Promise<Made> {
  const result = await inTransaction(ctx, act)
  if (typeof result === 'string') throw oauthFault(result)
  return result
}

async function assertMayStill(ctx: Ctx, userId: number | null): Promise<void> {
  if (userId === null) return
  const user = await findTokenUser(ctx.db, userId)
  if (user?.state !== 'active') throw oauthFault('invalid_grant')
}

/**
 * RFC 7636 §4.6: the verifier is the challenge, or hashes to it. Where there was no challenge, a client that sends a
 * verifier has been given somebody else's code (RFC 9700 §2.1.1).
 */
function provesCode(grant: GrantRow, verifier: string | undefined): boolean {
  if (grant.code_challenge === null) return !verifier
  if (verifier === undefined || !/^[\w.~-]{43,128}$/.test(verifier)) return false
  const shown =
    grant.code_challenge_method === 'S256'
      ? createHash('sha256').update(verifier).digest('base64url')
      : verifier
  const [a, b] = [Buffer.from(shown), Buffer.from(grant.code_challenge)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const byCode: Grant = async (ctx, given, params) => {
  const client = needed(given)
  const { code } = params
  if (code === undefined) throw missing('code')
  return decide(ctx, async (inner) => {
    const grant = await findGrantByCode(inner.db, digestOf(code))
    if (!grant || grant.application_id !== client.id) return 'invalid_grant'
    if (grant.used_at !== null) {
      // Somebody has the code who should not (RFC 6749 §4.1.2): nobody keeps what came of it.
      await revokeGrantTokens(inner.db, grant.id, inner.now())
      return 'invalid_grant'
    }
    if (grant.expires_at <= inner.now() || grant.redirect_uri !== params.redirect_uri) {
      return 'invalid_grant'
    }
    if (!provesCode(grant, params.code_verifier)) return 'invalid_grant'
    await assertMayStill(inner, grant.user_id)
    await markGrantUsed(inner.db, grant.id, inner.now())
    return issue(inner, {
      application: client,
      userId: grant.user_id,
      scopes: scopesOf(grant),
      grantId: grant.id,
      nonce: grant.nonce,
    })
  })
}

const byRefreshToken: Grant = async (ctx, client, params) => {
  const { refresh_token: refresh } = params
  if (refresh === undefined) throw missing('refresh_token')
  return decide(ctx, async (inner) => {
    const row = await findOauthToken(inner.db, 'refresh_digest', digestOf(refresh))
    if (!row || row.application_id !== (client?.id ?? null)) return 'invalid_grant'
    const familyId = row.family_id ?? row.id
    if (!(await revokeOauthToken(inner.db, row.id, inner.now()))) {
      // A refresh token serves once; the second who brings it may be a thief, or the first was.
      await revokeOauthFamily(inner.db, familyId, inner.now())
      if (row.grant_id !== null) await revokeGrantTokens(inner.db, row.grant_id, inner.now())
      return 'invalid_grant'
    }
    await assertMayStill(inner, row.user_id)
    const scopes = narrowed(row, params.scope)
    if (!scopes) throw oauthFault('invalid_scope')
    const { user_id: userId, grant_id: grantId } = row
    return issue(inner, { application: client, userId, scopes, grantId, familyId })
  })
}

function narrowed(row: OauthTokenRow, asked: string | undefined): string[] | null {
  const before = scopesOf(row)
  const wanted = readScopes(asked)
  if (wanted.length === 0) return before
  return wanted.every((scope) => before.includes(scope)) ? wanted : null
}

const byPassword: Grant = async (ctx, client, params) => {
  const { username, password } = params
  if (username === undefined) throw missing('username')
  if (password === undefined) throw missing('password')
  const scopes = grantedScopes(client, params.scope)
  if (!scopes) throw oauthFault('invalid_scope')
  const actor = await signInWithPassword(ctx, { user: username, password }).catch(asGrantFault)
  const mayUse = ctx.settings.get('password_authentication_enabled_for_web') || actor.user.admin
  if (!mayUse) throw oauthFault('invalid_grant')
  return issue(ctx, { application: client, userId: actor.user.id, scopes })
}

function asGrantFault(error: unknown): never {
  const isRefusal = error instanceof Problem && (error.status === 401 || error.status === 403)
  throw isRefusal ? oauthFault('invalid_grant') : error
}

const byClient: Grant = async (ctx, given, params) => {
  const client = needed(given)
  if (client.confidential === 0) throw oauthFault('unauthorized_client')
  const scopes = grantedScopes(client, params.scope)
  if (!scopes) throw oauthFault('invalid_scope')
  return issue(ctx, { application: client, userId: null, scopes })
}

/** Seconds between two questions of a device (RFC 8628 §3.5). */
export const DEVICE_INTERVAL_S = 5

const byDevice: Grant = async (ctx, given, params) => {
  const client = needed(given)
  const { device_code: code } = params
  if (code === undefined) throw missing('device_code')
  return decide(ctx, async (inner) => {
    const device = await findDevice(inner.db, { deviceDigest: digestOf(code) })
    if (!device || device.application_id !== client.id) return 'invalid_grant'
    const waiting = await stateOf(inner, device)
    if (waiting !== 'allowed') return waiting
    await assertMayStill(inner, device.user_id)
    await deleteDevice(inner.db, device.id)
    const scopes = scopesOf(device)
    return issue(inner, { application: client, userId: device.user_id, scopes })
  })
}

async function stateOf(ctx: Ctx, device: DeviceRow): Promise<OauthFault | 'allowed'> {
  const now = ctx.now()
  if (device.expires_at <= now) return 'expired_token'
  if (device.denied === 1) return 'access_denied'
  if (device.user_id !== null) return 'allowed'
  const tooSoon =
    device.polled_at !== null && later(device.polled_at, DEVICE_INTERVAL_S * 1000) > now
  await notePoll(ctx.db, device.id, now)
  return tooSoon ? 'slow_down' : 'authorization_pending'
}

/** The ways to a token, by `grant_type` (docs/contract/D §1.1 OAuth). */
export const grants: ReadonlyMap<string, Grant> = new Map([
  ['authorization_code', byCode],
  ['refresh_token', byRefreshToken],
  ['password', byPassword],
  ['client_credentials', byClient],
  ['urn:ietf:params:oauth:grant-type:device_code', byDevice],
])
