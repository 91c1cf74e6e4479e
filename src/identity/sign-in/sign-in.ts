import { actorUser, type UserActor } from '../../access/actor.ts'
import { audit } from '../../access/audit.ts'
import { assertMayEnter } from '../../access/authentication/entry.ts'
import { admit, findByPassword, type KnownUser } from '../../access/authentication/sign-in-basic.ts'
import { runEffects } from '../../base/effects.ts'
import { forbidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { proveByKey } from '../two-factor/keys/prove-by-key.ts'
import { getUser } from '../users/find-user.ts'
import { moveUser } from '../users/states.ts'

/** Passwords may be kept for administrators alone (`password_authentication_enabled_for_web`). */
export async function signInWithPassword(
  ctx: Ctx,
  given: { readonly login: string; readonly password: string },
): Promise<UserActor> {
  const known = await findByPassword(ctx, { user: given.login, password: given.password })
  if (!ctx.settings.get('password_authentication_enabled_for_web') && !known.user.admin) {
    throw forbidden('Signing in with a password is switched off.')
  }
  return await letIn(ctx, known)
}

/** Signs in by a key that names its owner, and has asked for a PIN or a finger. */
export async function signInWithKey(
  ctx: Ctx,
  answer: unknown,
  browser: string,
): Promise<UserActor> {
  const userId = await proveByKey(ctx, { purpose: 'sign_in', userId: null, browser }, answer)
  const row = await getUser(ctx, userId)
  return await letIn(ctx, {
    user: actorUser(row),
    confirmedAt: row.confirmed_at,
    createdAt: row.created_at,
  })
}

/**
 * Lets somebody in who has shown who they are, by whatever means. Who was deactivated is active again, as the refusal of their
 * tokens promises. Whoever puts refusals on the audit trail by themselves says so.
 */
export async function letIn(
  ctx: Ctx,
  known: KnownUser,
  options: { readonly auditsRefusal?: boolean } = {},
): Promise<UserActor> {
  const { user } = known
  if (user.state === 'deactivated') {
    const actor = admit(ctx, { ...known, user: { ...user, state: 'active' } })
    await moveUser({ ...ctx, actor }, user.id, 'activate')
    return actor
  }
  if (user.state !== 'active') {
    await inTransaction(ctx, async (ctx) => {
      await runEffects(ctx, ctx.effects.signInRefused, { id: user.id })
      if (options.auditsRefusal === false) return
      const entity = { type: 'User', id: user.id } as const
      await audit(ctx, { entity, action: 'sign_in_refused', details: { state: user.state } })
    })
  }
  const actor = admit(ctx, known)
  await assertMayEnter(ctx, actor, { byPage: true })
  return actor
}
