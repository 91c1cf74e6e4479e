import { randomBytes } from 'node:crypto'
import { audit } from '../../access/audit.ts'
import { digestOf } from '../../access/token-use.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { callerId } from '../users/find-user.ts'
import type { AuthorizationRequest } from './authorization-request.ts'
import { insertGrant } from './queries.ts'

const CODE_LIFETIME_MS = 10 * 60_000

/** Lets an application have a code, which it exchanges for a token of the caller. */
export async function grantCode(ctx: Ctx, asked: AuthorizationRequest): Promise<string> {
  const userId = callerId(ctx)
  const code = randomBytes(32).toString('hex')
  const now = ctx.now()
  await inTransaction(ctx, async (inner) => {
    await insertGrant(inner.db, {
      application_id: asked.application.id,
      user_id: userId,
      code_digest: digestOf(code),
      redirect_uri: asked.redirectUri,
      scopes: JSON.stringify(asked.scopes),
      code_challenge: asked.challenge?.value ?? null,
      code_challenge_method: asked.challenge?.method ?? null,
      nonce: asked.nonce,
      expires_at: later(now, CODE_LIFETIME_MS),
      created_at: now,
    })
    await audit(inner, {
      entity: { type: 'User', id: userId },
      action: 'application_authorized',
      details: { application: asked.application.name, scopes: asked.scopes.join(' ') },
    })
  })
  return code
}
