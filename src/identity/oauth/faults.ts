import { Problem } from '../../base/problem.ts'

/** The words of RFC 6749 §5.2 and RFC 8628 §3.5, as clients of the reference see them (docs/contract/D §1.1 OAuth). */
const DESCRIPTIONS = {
  invalid_request:
    'The request is missing a required parameter, includes an unsupported parameter value, or is otherwise malformed.',
  invalid_client:
    'Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.',
  invalid_grant:
    'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.',
  invalid_scope: 'The requested scope is invalid, unknown, or malformed.',
  invalid_token: 'The access token is invalid',
  unauthorized_client: 'The client is not authorized to perform this request using this method.',
  unsupported_grant_type:
    'The authorization grant type is not supported by the authorization server.',
  unsupported_response_type: 'The authorization server does not support this response type.',
  access_denied: 'The resource owner or authorization server denied the request.',
  authorization_pending: 'The authorization request is still pending.',
  slow_down: 'The authorization request is still pending and polling should occur less often.',
  expired_token: 'The device code has expired. Start again.',
} as const

export type OauthFault = keyof typeof DESCRIPTIONS

export function describeFault(fault: OauthFault): string {
  return DESCRIPTIONS[fault]
}

/** An error of the token endpoint and its kin. */
export function oauthFault(
  fault: OauthFault,
  description = DESCRIPTIONS[fault] as string,
): Problem {
  const asksToSignIn = fault === 'invalid_client' || fault === 'invalid_token'
  const challenge = `Bearer realm="Gitstead", error="${fault}", error_description="${description}"`
  return new Problem(
    asksToSignIn ? 'unauthorized' : 'bad_request',
    asksToSignIn ? 401 : 400,
    { error: fault, error_description: description },
    {
      headers: {
        'Cache-Control': 'no-store',
        Pragma: 'no-cache',
        ...(asksToSignIn ? { 'WWW-Authenticate': challenge } : {}),
      },
    },
  )
}

export function missing(name: string): Problem {
  return oauthFault('invalid_request', `Missing required parameter: ${name}.`)
}
