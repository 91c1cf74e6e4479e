import { Problem } from '../../base/problem.ts'
import { answerFor } from '../errors.ts'
import type { ApiAnswer } from '../pipeline-parts.ts'

/** Lets pages of any origin read an answer, and the headers that ask them to wait. */
export const anyOrigin = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After, X-Sentry-Rate-Limits, X-Sentry-Error',
} as const

/** What a browser asks before it sends a request with headers of its own (docs/contract/C-resolved §2.3). */
export function preflight(methods: readonly string[]): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Methods': methods.join(', '),
    'Access-Control-Allow-Headers': 'x-sentry-auth, content-type, content-encoding',
    'Access-Control-Max-Age': '3600',
  }
}

export function withAnyOrigin(answer: ApiAnswer): ApiAnswer {
  return { ...answer, headers: { ...answer.headers, ...anyOrigin } }
}

/** What went wrong, so that the page may see it. */
export function originRefusal(error: unknown): unknown {
  const { status, body, headers, fault } = answerFor(error)
  if (fault) return error
  const code = error instanceof Problem ? error.code : 'bad_request'
  return new Problem(code, status, body, { headers: { ...headers, ...anyOrigin } })
}
