import { userOf } from '../../access/actor.ts'
import { dayOf } from '../../base/clock.ts'
import { existing, unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { findUserByIdOrName, findUserDetails, type UserDetails, type UserRow } from './queries.ts'

/** The user of an id or username, or 404 `404 User Not Found`. */
export async function getUser(ctx: Ctx, idOrName: string | number): Promise<UserRow> {
  return existing(await findUserByIdOrName(ctx.db, String(idOrName)), 'User')
}

/** The full record of a user who was found before. */
export async function getUserDetails(ctx: Ctx, id: number): Promise<UserDetails> {
  return existing(await findUserDetails(ctx.db, id, dayOf(ctx.now())), 'User')
}

/** The caller's id; for endpoints that ask `signedIn`. Deploy tokens and the server itself are nobody here. */
export function callerId(ctx: Ctx): number {
  const user = userOf(ctx.actor)
  if (!user) throw unauthorized()
  return user.id
}
