import { userOf } from '../../access/actor.ts'
import { issueToken } from '../../access/authentication/issue-token.ts'
import {
  type AccessTokenRow,
  revokeFamilyRows,
  revokeTokenRow,
} from '../../access/authentication/token-queries.ts'
import type { Day } from '../../base/clock.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { auditToken, faultSentence, type MadeToken } from './create-token.ts'
import { expiryFaults, rotatedExpiryOf } from './expiry.ts'

/**
 * Puts a new token in the place of one, all or nothing. Whoever rotates a token that was revoked may have stolen it:
 * everything that came from it by rotation is revoked too (docs/contract/A-resolved §7).
 */
export async function rotateToken(
  ctx: Ctx,
  row: AccessTokenRow,
  expiresAt: Day | null | undefined,
): Promise<MadeToken> {
  const faults = expiryFaults(ctx.settings, expiresAt, ctx.now())
  if (faults.length > 0) throw badRequest(faultSentence({ expires_at: faults }))
  const made = await inTransaction(ctx, async (inner) => {
    if (!(await revokeTokenRow(inner.db, row.id, inner.now()))) {
      await revokeFamilyRows(inner.db, row.family_id ?? row.id, inner.now())
      await auditToken(inner, 'token_reuse_detected', row)
      return undefined
    }
    const issued = await issueToken(inner, {
      kind: row.kind,
      userId: row.user_id,
      name: row.name,
      description: row.description,
      scopes: JSON.parse(row.scopes) as string[], // written by us as a JSON list of words
      expiresAt: rotatedExpiryOf(inner.settings, expiresAt, inner.now()),
      source:
        row.source_type === null || row.source_id === null
          ? undefined
          : { type: row.source_type, id: row.source_id },
      previous: row,
      createdById: userOf(inner.actor)?.id,
    })
    await auditToken(inner, 'token_rotated', issued.row)
    return issued
  })
  // Thrown outside, so that the revocations stay.
  if (!made) throw badRequest('Token already revoked')
  return made
}

/** Revokes a token; false when it was revoked before. */
export async function revokeToken(ctx: Ctx, row: AccessTokenRow): Promise<boolean> {
  return inTransaction(ctx, async (inner) => {
    const done = await revokeTokenRow(inner.db, row.id, inner.now())
    if (done) await auditToken(inner, 'token_revoked', row)
    return done
  })
}
