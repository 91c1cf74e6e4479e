import { randomBytes } from 'node:crypto'
import { insertOauthToken } from '../../access/authentication/oauth-token-queries.ts'
import { digestOf } from '../../access/token-use.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'

/** How long an access token lives (docs/contract/D §1.1 OAuth). */
export const LIFETIME_S = 7200

/** Whom a token is for, and by what. */
export interface Issued {
  readonly application: { readonly id: number; readonly uid: string } | undefined
  /** Null: the application itself. */
  readonly userId: number | null
  readonly scopes: readonly string[]
  readonly grantId?: number | null | undefined
  /** The first token of those that came of each other by refreshing. */
  readonly familyId?: number | undefined
  readonly nonce?: string | null | undefined
}

export interface TokenAnswer {
  readonly access_token: string
  readonly token_type: 'Bearer'
  readonly expires_in: number
  readonly refresh_token?: string
  readonly scope: string
  readonly created_at: number
}

/** Writes a token and gives the answer that shows it, this once. An application for itself gets no refresh token. */
export async function issueOauthToken(ctx: Ctx, given: Issued): Promise<TokenAnswer> {
  const access = randomBytes(32).toString('hex')
  const refresh = given.userId === null ? undefined : randomBytes(32).toString('hex')
  const now = ctx.now()
  await insertOauthToken(ctx.db, {
    application_id: given.application?.id ?? null,
    user_id: given.userId,
    grant_id: given.grantId ?? null,
    family_id: given.familyId ?? null,
    digest: digestOf(access),
    refresh_digest: refresh === undefined ? null : digestOf(refresh),
    scopes: JSON.stringify(given.scopes),
    expires_at: later(now, LIFETIME_S * 1000),
    created_at: now,
  })
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: LIFETIME_S,
    ...(refresh === undefined ? {} : { refresh_token: refresh }),
    scope: given.scopes.join(' '),
    created_at: Math.floor(Date.parse(now) / 1000),
  }
}
