import { notFound } from '../../base/problem.ts'
import { GitError, type GitErrorCode } from '../../git/error.ts'

const missing: readonly GitErrorCode[] = ['not_found', 'ambiguous', 'invalid', 'empty']

/** Whether the engine said that there is no such ref, path or object, or that it can't be one. */
export function isMissing(error: unknown): error is GitError {
  return error instanceof GitError && missing.includes(error.code)
}

/** The result, or 404 `404 <what> Not Found` when the repository has no such thing. */
export async function orNotFound<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw isMissing(error) ? notFound(what) : error
  }
}

/** The result, or undefined when the repository has no such thing. */
export async function ifFound<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
