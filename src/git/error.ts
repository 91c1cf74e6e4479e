/** What can go wrong in the engine, in words that callers can act on. */
export type GitErrorCode =
  | 'not_found'
  | 'exists'
  | 'ambiguous'
  | 'invalid'
  | 'conflict'
  | 'empty'
  | 'stale'
  | 'locked'
  | 'busy'
  | 'timeout'
  | 'too_large'
  | 'damaged'
  | 'full'
  | 'failed'

/** The only error that leaves the engine for a reason that a caller may meet. */
export class GitError extends Error {
  readonly code: GitErrorCode
  readonly detail: Readonly<Record<string, string | number>>

  constructor(
    code: GitErrorCode,
    message: string,
    detail: Readonly<Record<string, string | number>> = {},
  ) {
    super(message)
    this.name = 'GitError'
    this.code = code
    this.detail = detail
  }
}

/** A part of a repository is lost: `what` says which in one clause, for everybody who may read the repository. */
export function damaged(what: string): GitError {
  return new GitError('damaged', what, { what })
}

/** Whether an error says that something of a repository is lost. */
export function isDamage(error: unknown): error is GitError {
  return error instanceof GitError && error.code === 'damaged'
}

/** What people see of damage; where the repository lies is for the log alone. */
export function damageText({ detail: { what } }: GitError): string {
  if (what === undefined) {
    return 'The repository is damaged: its files are missing on the server. An administrator has to restore them.'
  }
  return (
    `The repository is damaged: ${what}. ` +
    'An administrator has to restore it, or somebody who has it has to push it again.'
  )
}
