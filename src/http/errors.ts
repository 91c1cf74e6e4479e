import { NoResultError } from 'kysely'
import { isDiskFull } from '../base/full-disk.ts'
import { insufficientStorage, Problem, type ProblemBody } from '../base/problem.ts'
import { LostFile, lostFileText } from '../base/streams/lost-file.ts'
import { damageText, GitError, type GitErrorCode } from '../git/error.ts'
import { isExhausted } from './listener/connection-limit.ts'

/** An error as it goes to the wire. */
export interface ErrorAnswer {
  readonly status: number
  readonly body: ProblemBody
  readonly headers: Readonly<Record<string, string>>
  /** A fault of ours: to be logged with the request's id. */
  readonly fault: boolean
}

const gitStatus: Readonly<Record<GitErrorCode, number>> = {
  not_found: 404,
  exists: 400,
  ambiguous: 404,
  invalid: 400,
  conflict: 409,
  empty: 404,
  stale: 409,
  locked: 409,
  busy: 503,
  timeout: 503,
  too_large: 413,
  damaged: 500,
  full: 507,
  failed: 500,
}

const gitText: Readonly<Record<number, string>> = {
  404: '404 Not found',
  409: '409 Conflict',
  413: '413 Request Entity Too Large',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
}

/** Maps whatever was thrown to status and body; the only place that does (docs/architecture). */
export function answerFor(error: unknown): ErrorAnswer {
  if (error instanceof Problem) {
    return { status: error.status, body: error.body, headers: error.headers, fault: false }
  }
  if (isDiskFull(error)) {
    const { status, body } = insufficientStorage()
    return { status, body, headers: {}, fault: true }
  }
  if (error instanceof GitError) {
    const status = gitStatus[error.code]
    const headers = status === 503 ? { 'Retry-After': '5' } : {}
    return { status, body: { message: textOf(error, status) }, headers, fault: status === 500 }
  }
  if (error instanceof LostFile) {
    return { status: 500, body: { message: lostFileText }, headers: {}, fault: true }
  }
  if (isExhausted(error)) {
    const message = '503 Service Unavailable'
    return { status: 503, body: { message }, headers: { 'Retry-After': '5' }, fault: false }
  }
  // Somebody deleted what the request is about after it was found.
  if (isMissingRow(error)) {
    return { status: 404, body: { message: '404 Not found' }, headers: {}, fault: false }
  }
  return { status: 500, body: { message: '500 Internal Server Error' }, headers: {}, fault: true }
}

/** Whether a query failed because a row that it reads or refers to is not there any more. */
function isMissingRow(error: unknown): boolean {
  if (error instanceof NoResultError) return true
  return error instanceof Error && 'code' in error && error.code === 'SQLITE_CONSTRAINT_FOREIGNKEY'
}

function textOf(error: GitError, status: number): string {
  if (error.code === 'damaged') return damageText(error)
  if (status === 400) return `400 Bad request - ${error.message}`
  return gitText[status] ?? error.message
}
