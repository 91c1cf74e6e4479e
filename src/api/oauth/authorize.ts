import { randomBytes } from 'node:crypto'
import type { UserActor } from '../../access/actor.ts'
import { digestOf } from '../../access/door.ts'
import { ADMIN_ONLY_SCOPES } from '../../access/scopes.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { isRegistered, readScopes, scopesOf } from './client.ts'
import { oauthProblem } from './problems.ts'
import { type ApplicationRow, findApplicationByUid, insertGrant } from './queries.ts'

const CODE_LIFETIME_MS = 10 * 60_000

/** A request for consent, as the query of the page has it. */
export interface AuthorizeRequest {
  readonly clientId: string
  readonly redirectUri: string
  readonly responseType: string
  readonly scope: string
  readonly state: string
  readonly codeChallenge: string
  readonly codeChallengeMethod: string
}

export interface Consent {
  readonly application: ApplicationRow
  readonly scopes: readonly string[]
}

/**
 * What the user is to agree to. A request that names no known application, or an address that it did not register, is
 * refused here and never redirected. Applications without a secret must use PKCE.
 */
export async function readConsent(ctx: Ctx, request: AuthorizeRequest): Promise<Consent> {
  const application = await findApplicationByUid(ctx.db, request.clientId)
  if (!application) throw oauthProblem('invalid_client')
  if (!isRegistered(application, request.redirectUri)) throw oauthProblem('invalid_redirect_uri')
  if (request.responseType !== 'code') throw oauthProblem('unsupported_response_type')
  const method = request.codeChallengeMethod
  const wrongMethod = method !== '' && method !== 'S256' && method !== 'plain'
  const needless = application.confidential === 1 && request.codeChallenge === ''
  const good = /^[A-Za-z0-9._~-]{43,128}$/.test(request.codeChallenge)
  if (wrongMethod || !(needless || good)) throw oauthProblem('invalid_request')
  const allowed = scopesOf(application)
  return { application, scopes: readScopes(request.scope, allowed, allowed) }
}

/** Where the browser goes after the user agreed: back to the application, with a code that is good once. */
export async function grantCode(
  ctx: Ctx,
  request: AuthorizeRequest,
  { user }: UserActor,
): Promise<string> {
  const { application, scopes } = await readConsent(ctx, request)
  const adminOnly: readonly string[] = ADMIN_ONLY_SCOPES
  const code = randomBytes(32).toString('hex')
  const plain = request.codeChallengeMethod === 'plain' || request.codeChallengeMethod === ''
  await insertGrant(ctx.db, {
    application_id: application.id,
    user_id: user.id,
    code_digest: digestOf(code),
    redirect_uri: request.redirectUri,
    scopes: JSON.stringify(scopes.filter((scope) => user.admin || !adminOnly.includes(scope))),
    code_challenge: request.codeChallenge || null,
    code_challenge_method: request.codeChallenge === '' ? null : plain ? 'plain' : 'S256',
    expires_at: later(ctx.now(), CODE_LIFETIME_MS),
    created_at: ctx.now(),
  })
  return redirectWith(request, { code })
}

/** The application's address with the answer in its query. */
export function redirectWith(
  request: AuthorizeRequest,
  answer: Readonly<Record<string, string>>,
): string {
  const url = new URL(request.redirectUri)
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value)
  if (request.state !== '') url.searchParams.set('state', request.state)
  return url.href
}
