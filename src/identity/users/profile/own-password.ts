import { isFreshSession, sessionOf } from '../../../access/authentication/fresh.ts'
import { verifyPassword } from '../../../access/authentication/password.ts'
import { invalid } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { callerId, getUser } from '../find-user.ts'
import type { UserRow } from '../queries.ts'

/**
 * The caller, who knows their password: whoever only found an open browser, or a token, does not. Who signs in elsewhere and
 * has no password here must have done so a short while ago, in the browser that asks.
 */
export async function provenCaller(ctx: Ctx, password: string): Promise<UserRow> {
  const user = await getUser(ctx, callerId(ctx))
  if (user.password_hash === null) {
    const session = sessionOf(ctx.actor)
    if (session && isFreshSession(session, ctx.now())) return user
    throw invalid({
      current_password: ['is not set: sign in again in a browser, and try once more'],
    })
  }
  if (!(await verifyPassword(password, user.password_hash))) {
    throw invalid({ current_password: ['is wrong'] })
  }
  return user
}

/** Whether the caller has a password here, which pages then ask for. */
export async function hasOwnPassword(ctx: Ctx): Promise<boolean> {
  return (await getUser(ctx, callerId(ctx))).password_hash !== null
}
