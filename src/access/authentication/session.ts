import { type Actor, ANONYMOUS, actorUser, withoutToken } from '../actor.ts'
import { digestOf } from '../token-use.ts'
import type { AuthenticationContext } from './authentication-context.ts'
import { dutiesOf } from './duty.ts'
import { findSessionByDigest } from './sign-in-queries.ts'

/**
 * The user of a browser's session; nobody when it is over, waits for a second factor, or when its user may not sign in any
 * more. While something must be done first, the session counts only where that is done (`whileDue`).
 */
export async function signInWithSession(
  context: AuthenticationContext,
  secret: string,
  whileDue: boolean,
): Promise<Actor> {
  const row = await findSessionByDigest(context.db, digestOf(secret), context.now())
  if (row?.state !== 'active' || row.waits_for !== null) return ANONYMOUS
  const duties = await dutiesOf(context, row)
  if (duties.due !== null && !whileDue) return ANONYMOUS
  const session = { id: row.session_id, provedAt: row.proved_at, ...duties }
  return { ...withoutToken(actorUser(row)), session }
}
