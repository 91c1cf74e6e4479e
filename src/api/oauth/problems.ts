import { Problem } from '../../base/problem.ts'

const TEXTS = {
  invalid_request:
    'The request is missing a required parameter, includes an unsupported parameter value, or is otherwise malformed.',
  invalid_client:
    'Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.',
  invalid_grant:
    'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.',
  invalid_scope: 'The requested scope is invalid, unknown, or malformed.',
  unauthorized_client: 'The client is not authorized to perform this request using this method.',
  unsupported_grant_type:
    'The authorization grant type is not supported by the authorization server.',
  unsupported_response_type: 'The authorization server does not support this response type.',
  invalid_redirect_uri:
    'The requested redirect uri is malformed or doesn’t match client redirect URI.',
  access_denied: 'The resource owner or authorization server denied the request.',
  authorization_pending: 'The authorization request is still pending.',
  slow_down: 'The authorization request is still pending and polling should be slower.',
  expired_token: 'The device_code has expired.',
} as const

export type OauthError = keyof typeof TEXTS

/** An error in the words of RFC 6749 §5.2. A client that is not known, or not proven, is 401. */
export function oauthProblem(error: OauthError): Problem {
  const status = error === 'invalid_client' ? 401 : 400
  const headers = status === 401 ? { 'WWW-Authenticate': 'Basic realm="OAuth"' } : {}
  const body = { error, error_description: TEXTS[error] }
  return new Problem(status === 401 ? 'unauthorized' : 'bad_request', status, body, { headers })
}
