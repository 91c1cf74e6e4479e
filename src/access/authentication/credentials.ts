import type { TokenUsed } from '../actor.ts'

/** What a request brought to say who it is, as found in headers and parameters. */
export interface Credentials {
  /** `private_token` parameter, `PRIVATE-TOKEN` header, or `Authorization: Bearer`. */
  readonly token?: string | undefined
  /** Whether that came as Bearer, as tokens of jobs may too. */
  readonly isBearer?: boolean
  /** `JOB-TOKEN` header or `job_token` parameter. */
  readonly jobToken?: string | undefined
  /** `DEPLOY-TOKEN` header. */
  readonly deployToken?: string | undefined
  /** A token of whatever kind in a header that only one program sends, such as `X-NuGet-ApiKey`. */
  readonly anyToken?: string | undefined
  /** A token of ours in the query, where a protocol has no other place for it. */
  readonly queryToken?: string | undefined
  /** Basic authentication: git, registries. */
  readonly basic?: { readonly user: string; readonly password: string } | undefined
  /** The secret of a browser's session, only where an endpoint admits it. */
  readonly session?: string | undefined
  /** `Sudo` header or `sudo` parameter: id or username of the user to act as. */
  readonly sudo?: string | undefined
}

/** Whether any of the token's scopes is one of those that would do. */
export function hasScope(token: Pick<TokenUsed, 'scopes'>, accepted: readonly string[]): boolean {
  return token.scopes.some((scope) => accepted.includes(scope))
}
