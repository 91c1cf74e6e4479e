import { diskFullText } from './full-disk.ts'

/** Field → the sentences that say what is wrong with it. */
export type FieldTexts = Readonly<Record<string, readonly string[]>>

/** What a problem answers with: a JSON object, or plain text. */
export type ProblemBody = Readonly<Record<string, unknown>> | string

/** Words for what went wrong, for code that must distinguish one problem from another. */
export type ProblemCode =
  | 'bad_request'
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'conflict'
  | 'gone'
  | 'precondition_failed'
  | 'timeout'
  | 'too_large'
  | 'unsupported_type'
  | 'unprocessable'
  | 'locked'
  | 'too_many'
  | 'moved'
  | 'not_modified'
  | 'bad_gateway'
  | 'unavailable'
  | 'full'

/** What a caller can cause: the answer that they get, in full (docs/contract/A-resolved §2). */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly status: number
  readonly body: ProblemBody
  readonly headers: Readonly<Record<string, string>>
  readonly fields: FieldTexts | undefined

  constructor(
    code: ProblemCode,
    status: number,
    body: ProblemBody,
    more: { headers?: Readonly<Record<string, string>>; fields?: FieldTexts } = {},
  ) {
    super(textOf(body))
    this.name = 'Problem'
    this.code = code
    this.status = status
    this.body = body
    this.headers = more.headers ?? {}
    this.fields = more.fields
  }
}

function textOf(body: ProblemBody): string {
  if (typeof body === 'string') return body
  const text = body.message ?? body.error
  return typeof text === 'string' ? text : JSON.stringify(text ?? body)
}

function said(code: ProblemCode, status: number, message: string): Problem {
  return new Problem(code, status, { message })
}

/**
 * 404. `notFound('Project')` says `404 Project Not Found`; `notFound()` is the lower-case answer of a failed record
 * look-up inside an endpoint (docs/contract/A-resolved §2).
 */
export function notFound(what?: string): Problem {
  return said('not_found', 404, what === undefined ? '404 Not found' : `404 ${what} Not Found`)
}

/** 404 of endpoints with texts of their own: `Alert not found` (docs/contract/C-resolved §1.6). */
export function notFoundText(text: string): Problem {
  return said('not_found', 404, text)
}

/** What a look-up found; where it found nothing, `notFound(what)` is thrown. */
export function existing<T>(found: T | null | undefined, what?: string): T {
  if (found === undefined || found === null) throw notFound(what)
  return found
}

/** 404 with the capital F of explicit checks: `404 Not Found`. */
export function hidden(): Problem {
  return said('not_found', 404, '404 Not Found')
}

/** 404 for a path that is no route of ours: the key is `error`. */
export function noRoute(): Problem {
  return new Problem('not_found', 404, { error: '404 Not Found' })
}

/** 401 where signing in would help. */
export function unauthorized(): Problem {
  return said('unauthorized', 401, '401 Unauthorized')
}

/** 401 for a token that was good once: expired, revoked, or of a kind that is switched off. */
export function invalidToken(description: string, realm: string): Problem {
  const body = { error: 'invalid_token', error_description: description }
  const challenge = `Bearer realm="${realm}", error="invalid_token", error_description="${description}"`
  return new Problem('unauthorized', 401, body, { headers: { 'WWW-Authenticate': challenge } })
}

/** 403: seen, but not allowed. */
export function forbidden(reason?: string): Problem {
  return said(
    'forbidden',
    403,
    reason === undefined ? '403 Forbidden' : `403 Forbidden - ${reason}`,
  )
}

/** 403 for a token that lacks a scope; `scopes` are those that would do. */
export function insufficientScope(scopes: readonly string[]): Problem {
  return new Problem('forbidden', 403, {
    error: 'insufficient_scope',
    error_description: 'The request requires higher privileges than provided by the access token.',
    scope: scopes.join(' '),
  })
}

/** 400 of the model: `{"message": {"name": ["has already been taken"]}}`. */
export function invalid(fields: FieldTexts): Problem {
  return new Problem('invalid', 400, { message: fields }, { fields })
}

/** Refuses input with faults, as a rule by 400 with those fields that have any. */
export function refuseFaults(faults: FieldTexts, refuse = invalid): void {
  const wrong = Object.entries(faults).filter(([, texts]) => texts.length > 0)
  if (wrong.length > 0) throw refuse(Object.fromEntries(wrong))
}

/** 400 of the model as whole sentences, or one, under `message`. */
export function invalidText(text: string | readonly string[]): Problem {
  return new Problem('invalid', 400, { message: text })
}

/** 400 of parameter checks: `{"error": "name is missing, x is invalid"}`. */
export function badParameters(...texts: readonly string[]): Problem {
  return new Problem('bad_request', 400, { error: texts.join(', ') })
}

/** 400 by hand: `400 Bad request`, or `400 Bad request - <reason>`. */
export function badRequest(reason?: string): Problem {
  const message = reason === undefined ? '400 Bad request' : `400 Bad request - ${reason}`
  return said('bad_request', 400, message)
}

/** 405: known path, but not by this method (key `error`, with `Allow`). */
export function noMethod(allow: readonly string[]): Problem {
  const headers = { Allow: allow.join(', ') }
  return new Problem('method_not_allowed', 405, { error: '405 Not Allowed' }, { headers })
}

/** 405 of application code. */
export function methodNotAllowed(text = '405 Method Not Allowed'): Problem {
  return said('method_not_allowed', 405, text)
}

/** 405 of the pager (key `error`, docs/contract/A-resolved §5). */
export function pagingRefused(text: string): Problem {
  return new Problem('method_not_allowed', 405, { error: text })
}

export function notAcceptable(): Problem {
  return said('not_acceptable', 406, '406 Not Acceptable')
}

/** 409. A text is used as it is (`Member already exists`); merge requests answer a list. */
export function conflict(text: string | readonly string[] = '409 Conflict'): Problem {
  return new Problem('conflict', 409, { message: text })
}

/** 410: something that was here once. */
export function gone(text: string): Problem {
  return new Problem('gone', 410, { error: text })
}

export function preconditionFailed(): Problem {
  return said('precondition_failed', 412, '412 Precondition Failed')
}

/** 408: the body did not come. */
export function requestTimeout(): Problem {
  return said('timeout', 408, '408 Request Timeout')
}

export function tooLarge(): Problem {
  return said('too_large', 413, '413 Request Entity Too Large')
}

export function uriTooLong(): Problem {
  return said('too_large', 414, '414 URI Too Long')
}

export function unsupportedType(type: string): Problem {
  const error = `The provided content-type '${type}' is not supported.`
  return new Problem('unsupported_type', 415, { error })
}

export function unprocessable(text: unknown): Problem {
  return new Problem('unprocessable', 422, { message: text })
}

/** 429 of the request throttle: plain text (docs/contract/A-resolved §6). */
export function throttled(
  headers: Readonly<Record<string, string>> = {},
  text = 'Retry later',
): Problem {
  return new Problem('too_many', 429, text, { headers })
}

/** 429 of an action limit: `Retry-After` is the interval in seconds (docs/contract/A-resolved §6). */
export function tooMany(intervalSeconds: number, thing = 'This endpoint'): Problem {
  const error = `${thing} has been requested too many times. Try again later.`
  const headers = { 'Retry-After': String(intervalSeconds) }
  return new Problem('too_many', 429, { message: { error } }, { headers })
}

/** 429 of a limit of what one caller may do at a time. */
export function tooManyAtOnce(text: string, retryAfterSeconds: number): Problem {
  const headers = { 'Retry-After': String(retryAfterSeconds) }
  return new Problem('too_many', 429, { message: { error: text } }, { headers })
}

/** 301 of a project that was renamed or transferred (docs/contract/A-resolved §4). */
export function movedTo(url: string): Problem {
  const text = `This resource has been moved permanently to ${url}`
  return new Problem('moved', 301, text, { headers: { Location: url } })
}

/** 304 with an empty body: nothing changed (star twice, subscribe twice). */
export function notModified(): Problem {
  return new Problem('not_modified', 304, '')
}

/** 502: a server that we asked answered badly, or not at all. */
export function badGateway(text: string): Problem {
  return said('bad_gateway', 502, text)
}

/** 507: there is no room on the disk to write. */
export function insufficientStorage(): Problem {
  return said('full', 507, `507 Insufficient Storage - ${diskFullText}`)
}

export function unavailable(text = '503 Service Unavailable', retryAfterSeconds: number): Problem {
  const headers = { 'Retry-After': String(retryAfterSeconds) }
  return new Problem('unavailable', 503, { message: text }, { headers })
}
