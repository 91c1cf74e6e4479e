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

/** What people are told; where the repository lies is for the log alone. */
export const DAMAGED =
  'The repository is damaged: its files are missing on the server. An administrator has to restore them.'
