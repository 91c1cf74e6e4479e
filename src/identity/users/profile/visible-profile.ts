import { isAdmin, userOf } from '../../../access/actor.ts'
import { notFound } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { getUser } from '../find-user.ts'
import type { UserRow } from '../queries.ts'

/** As `getUser`, for lists about a person that a private profile keeps to its owner and to administrators. */
export async function getUserWithProfile(ctx: Ctx, idOrName: string): Promise<UserRow> {
  const user = await getUser(ctx, idOrName)
  const mayLook =
    user.private_profile === 0 || isAdmin(ctx.actor) || userOf(ctx.actor)?.id === user.id
  if (!mayLook) throw notFound('User')
  return user
}
