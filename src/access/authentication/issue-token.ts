import { randomBytes } from 'node:crypto'
import type { Day, Instant } from '../../base/clock.ts'
import type { Config } from '../../base/config.ts'
import type { Db } from '../../store/schema.ts'
import type { InstanceSettings } from '../instance-settings.ts'
import { digestOf } from '../token-use.ts'
import { type AccessTokenRow, insertToken } from './token-queries.ts'

/** What issuing a token needs; a ctx has it all. */
export interface Issuer {
  readonly db: Db
  readonly config: Pick<Config, 'vendor'>
  readonly settings: InstanceSettings
  now(): Instant
}

export interface NewToken {
  readonly kind: AccessTokenRow['kind']
  readonly userId: number
  readonly name: string
  readonly description?: string | null | undefined
  readonly scopes: readonly string[]
  readonly expiresAt: Day | null
  readonly source?: { readonly type: 'group' | 'project'; readonly id: number } | undefined
  /** The token that this one takes the place of. */
  readonly previous?: Pick<AccessTokenRow, 'id' | 'family_id'> | undefined
  readonly createdById?: number | null | undefined
  /** A secret chosen by the operator; made without it. */
  readonly secret?: string | undefined
}

/** A new secret: the recognisable prefix and 256 random bits. */
export function newSecret(issuer: Pick<Issuer, 'config' | 'settings'>): string {
  const prefix =
    issuer.settings.get('personal_access_token_prefix') ??
    issuer.config.vendor.tokenPrefix('personal')
  return prefix + randomBytes(32).toString('base64url')
}

/** Writes a token; the secret is returned this once, the table holds its digest. No rule is asked here. */
export async function issueToken(
  issuer: Issuer,
  token: NewToken,
): Promise<{ readonly row: AccessTokenRow; readonly secret: string }> {
  const secret = token.secret ?? newSecret(issuer)
  const now = issuer.now()
  const row = await insertToken(issuer.db, {
    kind: token.kind,
    user_id: token.userId,
    name: token.name,
    description: token.description ?? null,
    digest: digestOf(secret),
    scopes: JSON.stringify(token.scopes),
    expires_at: token.expiresAt,
    source_type: token.source?.type ?? null,
    source_id: token.source?.id ?? null,
    previous_id: token.previous?.id ?? null,
    family_id: token.previous ? (token.previous.family_id ?? token.previous.id) : null,
    created_by_id: token.createdById ?? null,
    created_at: now,
    updated_at: now,
  })
  return { row, secret }
}
