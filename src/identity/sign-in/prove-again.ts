import { audit } from '../../access/audit.ts'
import { isFreshSession, sessionOf } from '../../access/authentication/fresh.ts'
import { verifyPassword } from '../../access/authentication/password.ts'
import { invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { proveByKey } from '../two-factor/keys/prove-by-key.ts'
import { proveByCode } from '../two-factor/prove.ts'
import { callerId, getUser } from '../users/find-user.ts'
import { noteProof } from './queries.ts'

/** Whether whoever sits at the browser has shown who they are a short while ago; true for callers without a browser. */
export function isFresh(ctx: Ctx): boolean {
  const session = sessionOf(ctx.actor)
  return session === undefined || isFreshSession(session, ctx.now())
}

/** What a form brings to show that it is still the owner: one of them is enough. */
export interface Proof {
  readonly password?: string | undefined
  readonly code?: string | undefined
  readonly key?: string | undefined
}

/** Takes a proof for the session of the caller. */
export async function proveAgain(ctx: Ctx, proof: Proof, browser: string): Promise<void> {
  const session = sessionOf(ctx.actor)
  if (!session) return
  const userId = callerId(ctx)
  if (proof.key) await proveByKey(ctx, { purpose: 'prove', userId, browser }, proof.key)
  else if (proof.code) await proveByCode(ctx, userId, proof.code)
  else await proveByPassword(ctx, userId, proof.password ?? '')
  await inTransaction(ctx, (inner) => noteProof(inner.db, session.id, inner.now()))
}

async function proveByPassword(ctx: Ctx, userId: number, password: string): Promise<void> {
  const user = await getUser(ctx, userId)
  if (await verifyPassword(password, user.password_hash)) return
  await audit(ctx, { entity: { type: 'User', id: userId }, action: 'password_refused' })
  throw invalid({ proof_password: ['is wrong'] })
}
