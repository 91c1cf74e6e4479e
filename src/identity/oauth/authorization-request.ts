import type { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { text } from '../../http/params.ts'
import { describeFault, type OauthFault } from './faults.ts'
import { type ApplicationRow, findApplicationByUid } from './queries.ts'
import { isRegistered, linesOf } from './redirect-uri.ts'
import { grantedScopes } from './scopes.ts'

/** What an application sends a browser with (RFC 6749 §4.1.1, RFC 7636 §4.3). */
export const authorizationParams = {
  client_id: text({ max: 1000 }).optional(),
  redirect_uri: text({ max: 4000 }).optional(),
  response_type: text({ max: 100 }).optional(),
  scope: text({ max: 2000 }).optional(),
  state: text({ max: 4000 }).optional(),
  code_challenge: text({ max: 200 }).optional(),
  code_challenge_method: text({ max: 20 }).optional(),
  nonce: text({ max: 1000 }).optional(),
}
export type AuthorizationParams = z.infer<z.ZodObject<typeof authorizationParams>>

export interface AuthorizationRequest {
  readonly application: ApplicationRow
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly state: string | undefined
  readonly challenge: { readonly value: string; readonly method: 'plain' | 'S256' } | null
  readonly nonce: string | null
}

/**
 * A request as it was read: good, to be answered to the application with a fault, or, when nobody knows whether the
 * address is the application's, to be refused on a page.
 */
export type ReadRequest =
  | { readonly kind: 'good'; readonly asked: AuthorizationRequest }
  | {
      readonly kind: 'fault'
      readonly redirectUri: string
      readonly state: string | undefined
      readonly fault: OauthFault
    }
  | { readonly kind: 'refused'; readonly reason: string }

export async function readAuthorization(
  ctx: Ctx,
  params: AuthorizationParams,
): Promise<ReadRequest> {
  const application =
    params.client_id === undefined
      ? undefined
      : await findApplicationByUid(ctx.db, params.client_id)
  if (!application) return { kind: 'refused', reason: describeFault('invalid_client') }
  const redirectUri = redirectOf(application, params.redirect_uri)
  if (redirectUri === undefined) {
    return { kind: 'refused', reason: 'The redirect URI included is not valid.' }
  }
  const { state } = params
  const fail = (fault: OauthFault) => ({ kind: 'fault', redirectUri, state, fault }) as const
  if (params.response_type !== 'code') return fail('unsupported_response_type')
  const scopes = grantedScopes(application, params.scope)
  if (!scopes || scopes.length === 0) return fail('invalid_scope')
  const challenge = challengeOf(params)
  if (challenge === 'wrong') return fail('invalid_request')
  // Whoever cannot keep a secret has to prove that the code is theirs.
  if (application.confidential === 0 && challenge === null) return fail('invalid_request')
  const nonce = params.nonce ?? null
  return { kind: 'good', asked: { application, redirectUri, scopes, state, challenge, nonce } }
}

/** The address that was sent, when it is one of the application's; without one the only one that it has. */
function redirectOf(application: ApplicationRow, sent: string | undefined): string | undefined {
  const lines = linesOf(application.redirect_uri)
  if (sent === undefined) return lines.length === 1 ? lines[0] : undefined
  return isRegistered(application.redirect_uri, sent) ? sent : undefined
}

function challengeOf(params: AuthorizationParams): AuthorizationRequest['challenge'] | 'wrong' {
  const { code_challenge: value, code_challenge_method: method = 'plain' } = params
  if (value === undefined || value === '') return null
  if (method !== 'plain' && method !== 'S256') return 'wrong'
  return /^[\w.~-]{43,128}$/.test(value) ? { value, method } : 'wrong'
}
