import type { Config } from '../../base/config.ts'
import { isDiskFull } from '../../base/full-disk.ts'
import { insufficientStorage, Problem } from '../../base/problem.ts'
import type { GitError, GitErrorCode } from '../../git/error.ts'

const statuses: Readonly<Partial<Record<GitErrorCode, number>>> = {
  invalid: 400,
  too_large: 413,
  timeout: 408,
  busy: 503,
  full: 507,
  not_found: 404,
}

/** 507 for what found no room on the disk; undefined for anything else. */
export function asFullDisk(error: unknown): Problem | undefined {
  return isDiskFull(error) ? insufficientStorage() : undefined
}

/** The status of what the engine or the reading of a body refused. */
export function statusOf(error: GitError): number {
  return statuses[error.code] ?? 500
}

/** An answer in plain text, which git shows to its user. */
function text(
  code: Problem['code'],
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Problem {
  return new Problem(code, status, `${body}\n`, { headers })
}

/**
 * 401 with the challenge without which git does not send the credentials it has. The same for every
 * project, so that nobody learns which exist (docs/contract/D §3.2).
 */
export function challenge(realm: string): Problem {
  const body =
    'HTTP Basic: Access denied. Use a personal access token, or your user name and password.'
  const headers = { 'WWW-Authenticate': `Basic realm="${realm}"` }
  return text('unauthorized', 401, body, headers)
}

export function noProject(): Problem {
  const body =
    "The project you were looking for could not be found or you don't have permission to view it."
  return text('not_found', 404, body)
}

export function noWiki(): Problem {
  return text('not_found', 404, 'This wiki has no pages yet.')
}

export function notAllowed(reason: string): Problem {
  return text('forbidden', 403, reason)
}

export function smartOnly(): Problem {
  return text('forbidden', 403, 'Please upgrade your git client: only smart HTTP is supported.')
}

export function wrongMethod(allowed: string): Problem {
  return text('method_not_allowed', 405, 'Method not allowed', { Allow: allowed })
}

export function wrongType(expected: string): Problem {
  return text('unsupported_type', 415, `The content type must be ${expected}.`)
}

export function tooManyFailures(seconds: string): Problem {
  const body = 'Too many failed sign-ins from your address. Try again later.'
  return text('too_many', 429, body, { 'Retry-After': seconds })
}

/** What stands before our paths, should the server live below one: redirects keep the caller's host. */
export function rootOf(config: Pick<Config, 'externalUrl'>): string {
  return new URL(config.externalUrl).pathname.replace(/\/+$/, '')
}

export function redirect(location: string): Problem {
  return text('moved', 301, `Moved to ${location}`, { Location: location })
}
