import { isAdmin, userOf } from '../../../access/actor.ts'
import { notFound } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { getUser } from '../find-user.ts'
import type { UserRow } from '../queries.ts'

/** Whether the caller sees what a private profile keeps to its owner and to administrators. */
export function maySeeProfile(ctx: Pick<Ctx, 'actor'>, user: UserRow): boolean {
  return user.private_profile === 0 || isAdmin(ctx.actor) || userOf(ctx.actor)?.id === user.id
}

/** As `getUser`, for lists about a person that are part of the profile; 404 where it is hidden. */
export async function getUserWithProfile(ctx: Ctx, idOrName: string): Promise<UserRow> {
  const user = await getUser(ctx, idOrName)
  if (!maySeeProfile(ctx, user)) throw notFound('User')
  return user
}
