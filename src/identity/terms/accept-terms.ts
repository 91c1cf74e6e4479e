import { userOf } from '../../access/actor.ts'
import { audit } from '../../access/audit.ts'
import { enforcedTerms } from '../../access/authentication/terms.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { insertAgreement } from './queries.ts'

/** Notes that the caller has accepted the terms as they are now. */
export async function acceptTerms(ctx: Ctx): Promise<void> {
  const user = userOf(ctx.actor)
  const terms = enforcedTerms(ctx.settings)
  if (!user || !terms) return
  await inTransaction(ctx, async (inner) => {
    const row = { user_id: user.id, digest: terms.digest, accepted_at: inner.now() }
    await insertAgreement(inner.db, row)
    const entity = { type: 'User', id: user.id } as const
    await audit(inner, { entity, action: 'terms_accepted' })
  })
}
