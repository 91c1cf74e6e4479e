import { userOf } from '../../access/actor.ts'
import { audit, sourceEntity } from '../../access/audit.ts'
import { issueToken, type NewToken } from '../../access/authentication/issue-token.ts'
import type { AccessTokenRow } from '../../access/authentication/token-queries.ts'
import { ADMIN_ONLY_SCOPES } from '../../access/scopes.ts'
import type { Day } from '../../base/clock.ts'
import { type FieldTexts, type Problem, refuseFaults } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { nameFaults, tooLong } from '../users/names.ts'
import { expiryFaults, expiryOf } from './expiry.ts'

export interface TokenInput {
  readonly name: string
  readonly description?: string | null | undefined
  readonly scopes: readonly string[]
  readonly expires_at?: Day | null | undefined
}

/** Refuses a token to be made, in the model's words; routes differ in how they say them. */
export function refuseBadToken(
  ctx: Ctx,
  input: TokenInput,
  owner: { readonly admin: 0 | 1 | boolean },
  refuse: (faults: FieldTexts) => Problem,
): void {
  const adminOnly: readonly string[] = ADMIN_ONLY_SCOPES
  const beyond = !owner.admin && input.scopes.some((scope) => adminOnly.includes(scope))
  const faults = {
    name: nameFaults(input.name),
    description: tooLong(input.description, 255),
    scopes:
      input.scopes.length === 0
        ? ["can't be blank"]
        : beyond
          ? ['can only contain available scopes']
          : [],
    expires_at: expiryFaults(ctx.settings, input.expires_at, ctx.now()),
  }
  refuseFaults(faults, refuse)
}

/** `Expires at must be before 2027-01-01`: field texts as one sentence, the way most token routes answer. */
export function faultSentence(faults: FieldTexts): string {
  return Object.entries(faults)
    .flatMap(([field, texts]) => {
      const name = field.replaceAll('_', ' ')
      return texts.map((text) => `${name[0]?.toUpperCase()}${name.slice(1)} ${text}`)
    })
    .join(', ')
}

export interface MadeToken {
  readonly row: AccessTokenRow
  readonly secret: string
}

/** Makes a token whose input was found good, and notes it in the audit trail. */
export async function createToken(
  ctx: Ctx,
  input: TokenInput,
  what: Pick<NewToken, 'kind' | 'userId' | 'source'>,
): Promise<MadeToken> {
  return inTransaction(ctx, async (inner) => {
    const made = await issueToken(inner, {
      ...what,
      name: input.name,
      description: input.description,
      scopes: [...new Set(input.scopes)],
      expiresAt: expiryOf(inner.settings, input.expires_at, inner.now()),
      createdById: userOf(inner.actor)?.id,
    })
    await auditToken(inner, 'token_created', made.row)
    return made
  })
}

/** Notes what was done with a token; where it belongs decides who can read of it. */
export async function auditToken(ctx: Ctx, action: string, row: AccessTokenRow): Promise<void> {
  await audit(ctx, {
    entity:
      row.source_type === null || row.source_id === null
        ? { type: 'User', id: row.user_id }
        : sourceEntity({ type: row.source_type, id: row.source_id }),
    action,
    details: {
      token_id: row.id,
      name: row.name,
      kind: row.kind,
      scopes: row.scopes,
      expires_at: row.expires_at,
    },
  })
}
