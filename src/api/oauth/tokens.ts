import { createHash, randomBytes } from 'node:crypto'
import { digestOf } from '../../access/door.ts'
import {
  findOauthToken,
  insertOauthToken,
  type OauthTokenRow,
  revokeOauthToken,
  revokeOauthTokensOfGrant,
} from '../../access/oauth-token-queries.ts'
import { ADMIN_ONLY_SCOPES, PERSONAL_SCOPES } from '../../access/scopes.ts'
import { signInWithPassword } from '../../access/sign-in-basic.ts'
import { later } from '../../base/clock.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { type ClientCredentials, getClient, readScopes, scopesOf } from './client.ts'
import { grantForDevice } from './device.ts'
import { oauthProblem } from './problems.ts'
import { findGrant, type GrantRow, useGrant } from './queries.ts'

const LIFETIME_S = 7200

/** A request for a token, as the form has it. */
export interface TokenRequest {
  readonly grantType: string | undefined
  readonly client: ClientCredentials
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly scope?: string | undefined
  readonly refreshToken?: string | undefined
  readonly code?: string | undefined
  readonly redirectUri?: string | undefined
  readonly codeVerifier?: string | undefined
  readonly deviceCode?: string | undefined
}

/** The answer of RFC 6749 §5.1. */
export interface TokenAnswer {
  readonly access_token: string
  readonly token_type: 'Bearer'
  readonly expires_in: number
  readonly refresh_token?: string
  readonly scope: string
  readonly created_at: number
}

interface Issue {
  readonly applicationId: number | null
  readonly userId: number | null
  readonly grantId?: number | null
  readonly scopes: readonly string[]
}

/** Writes a token with digests alone; one of an application itself can't be refreshed. */
async function issue(ctx: Ctx, what: Issue): Promise<TokenAnswer> {
  const secret = randomBytes(32).toString('hex')
  const refresh = what.userId === null ? undefined : randomBytes(32).toString('hex')
  const now = ctx.now()
  await insertOauthToken(ctx.db, {
    application_id: what.applicationId,
    user_id: what.userId,
    grant_id: what.grantId ?? null,
    digest: digestOf(secret),
    refresh_digest: refresh === undefined ? null : digestOf(refresh),
    scopes: JSON.stringify(what.scopes),
    expires_at: later(now, LIFETIME_S * 1000),
    created_at: now,
  })
  return {
    access_token: secret,
    token_type: 'Bearer',
    expires_in: LIFETIME_S,
    ...(refresh === undefined ? {} : { refresh_token: refresh }),
    scope: what.scopes.join(' '),
    created_at: Math.floor(Date.parse(now) / 1000),
  }
}

const grants: Readonly<Record<string, (ctx: Ctx, request: TokenRequest) => Promise<TokenAnswer>>> =
  {
    password: byPassword,
    refresh_token: byRefreshToken,
    client_credentials: byClient,
    authorization_code: byCode,
    'urn:ietf:params:oauth:grant-type:device_code': byDevice,
  }

/** Gives a token for whatever grant is shown (spec D §1.1 OAuth). */
export async function grantToken(ctx: Ctx, request: TokenRequest): Promise<TokenAnswer> {
  if (!request.grantType) throw oauthProblem('invalid_request')
  const known = Object.hasOwn(grants, request.grantType) ? grants[request.grantType] : undefined
  if (!known) throw oauthProblem('unsupported_grant_type')
  return known(ctx, request)
}

async function byPassword(ctx: Ctx, request: TokenRequest): Promise<TokenAnswer> {
  if (!request.username || !request.password) throw oauthProblem('invalid_request')
  const client = request.client.id ? await getClient(ctx, request.client) : undefined
  if (!ctx.settings.get('password_authentication_enabled_for_web')) {
    throw oauthProblem('unauthorized_client')
  }
  const given = { user: request.username, password: request.password }
  const { user } = await signInWithPassword(ctx, given).catch(asGrantProblem)
  const personal: readonly string[] = PERSONAL_SCOPES
  const own = user.admin ? [...personal, ...ADMIN_ONLY_SCOPES] : personal
  const allowed = client
    ? scopesOf(client).filter((scope) => user.admin || !isAdminOnly(scope))
    : own
  const scopes = readScopes(request.scope, allowed, client ? allowed : ['api'])
  return issue(ctx, { applicationId: client?.id ?? null, userId: user.id, scopes })
}

function isAdminOnly(scope: string): boolean {
  const words: readonly string[] = ADMIN_ONLY_SCOPES
  return words.includes(scope)
}

/** Wrong passwords and blocked users are one answer here; an address that guesses is still told to wait. */
function asGrantProblem(error: unknown): never {
  if (error instanceof Problem && (error.code === 'unauthorized' || error.code === 'forbidden')) {
    throw oauthProblem('invalid_grant')
  }
  throw error
}

async function byClient(ctx: Ctx, request: TokenRequest): Promise<TokenAnswer> {
  const client = await getClient(ctx, request.client)
  if (client.confidential === 0) throw oauthProblem('unauthorized_client')
  const scopes = readScopes(request.scope, scopesOf(client), scopesOf(client))
  return issue(ctx, { applicationId: client.id, userId: null, scopes })
}

async function byRefreshToken(ctx: Ctx, request: TokenRequest): Promise<TokenAnswer> {
  if (!request.refreshToken) throw oauthProblem('invalid_request')
  const digest = digestOf(request.refreshToken)
  const row = await findOauthToken(ctx.db, 'refresh_digest', digest)
  if (!row) throw oauthProblem('invalid_grant')
  if (row.application_id !== null) {
    const client = await getClient(ctx, request.client)
    if (client.id !== row.application_id) throw oauthProblem('invalid_grant')
  }
  const known = JSON.parse(row.scopes) as string[] // written by us as a JSON list of words
  const scopes = readScopes(request.scope, known, known)
  const answer = await inTransaction(ctx, async (inner) => {
    if (!(await revokeOauthToken(inner.db, row.id, inner.now()))) {
      if (row.grant_id !== null) {
        await revokeOauthTokensOfGrant(inner.db, row.grant_id, inner.now())
      }
      return undefined
    }
    return issue(inner, {
      applicationId: row.application_id,
      userId: row.user_id,
      grantId: row.grant_id,
      scopes,
    })
  })
  // Thrown outside: what a thief may hold stays revoked.
  if (!answer) throw oauthProblem('invalid_grant')
  return answer
}

async function byCode(ctx: Ctx, request: TokenRequest): Promise<TokenAnswer> {
  if (!request.code) throw oauthProblem('invalid_request')
  const client = await getClient(ctx, request.client)
  const grant = await findGrant(ctx.db, digestOf(request.code))
  if (!grant || grant.application_id !== client.id) throw oauthProblem('invalid_grant')
  const answer = await inTransaction(ctx, async (inner) => {
    if (!(await useGrant(inner.db, grant.id, inner.now()))) {
      // A code that comes twice was seen by somebody else: what it gave is taken back (RFC 6749 §4.1.2).
      await revokeOauthTokensOfGrant(inner.db, grant.id, inner.now())
      return undefined
    }
    if (!fits(grant, request, inner.now())) return undefined
    const scopes = JSON.parse(grant.scopes) as string[] // written by us as a JSON list of words
    return issue(inner, {
      applicationId: client.id,
      userId: grant.user_id,
      grantId: grant.id,
      scopes,
    })
  })
  if (!answer) throw oauthProblem('invalid_grant')
  return answer
}

function fits(grant: GrantRow, request: TokenRequest, now: string): boolean {
  if (grant.expires_at <= now || grant.redirect_uri !== request.redirectUri) return false
  if (grant.code_challenge === null) return true
  const verifier = request.codeVerifier ?? ''
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false
  const shown =
    grant.code_challenge_method === 'S256'
      ? createHash('sha256').update(verifier).digest('base64url')
      : verifier
  return shown === grant.code_challenge
}

async function byDevice(ctx: Ctx, request: TokenRequest): Promise<TokenAnswer> {
  if (!request.deviceCode) throw oauthProblem('invalid_request')
  const client = await getClient(ctx, request.client)
  const granted = await grantForDevice(ctx, client, request.deviceCode)
  return issue(ctx, { applicationId: client.id, userId: granted.userId, scopes: granted.scopes })
}

/** The live token of a secret; undefined for an unknown, expired or revoked one. */
export async function findLiveToken(ctx: Ctx, secret: string): Promise<OauthTokenRow | undefined> {
  const row = await findOauthToken(ctx.db, 'digest', digestOf(secret))
  return row && row.revoked_at === null && row.expires_at > ctx.now() ? row : undefined
}

/** Revokes an access or refresh token of the client; an unknown one is no error (RFC 7009). */
export async function revokeBySecret(
  ctx: Ctx,
  secret: string,
  client: ClientCredentials,
): Promise<void> {
  const digest = digestOf(secret)
  const row =
    (await findOauthToken(ctx.db, 'digest', digest)) ??
    (await findOauthToken(ctx.db, 'refresh_digest', digest))
  if (!row) return
  if (row.application_id !== null) {
    const application = await getClient(ctx, client)
    if (application.id !== row.application_id) throw oauthProblem('unauthorized_client')
  }
  await revokeOauthToken(ctx.db, row.id, ctx.now())
}
