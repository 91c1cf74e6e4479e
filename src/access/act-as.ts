import type { Db } from '../store/schema.ts'
import { type Actor, actorUser, withoutToken } from './actor.ts'
import { findUserForActor } from './authentication/sign-in-queries.ts'

/** The same ctx on behalf of a user, for what tasks do in somebody's name; as it is when the user is gone. */
export async function actAs<C extends { readonly db: Db; readonly actor?: Actor }>(
  ctx: C,
  userId: number | null,
): Promise<C> {
  // What already acts for this user alone needs no second look.
  const { actor: known } = ctx
  if (known?.kind === 'user' && known.user.id === userId && known.token === null && !known.sudoBy) {
    return ctx
  }
  const row = userId === null ? undefined : await findUserForActor(ctx.db, String(userId))
  return row ? { ...ctx, actor: withoutToken(actorUser(row)) } : ctx
}
