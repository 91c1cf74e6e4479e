import { isAdmin, userOf } from '../../access/actor.ts'
import type { Ctx } from '../../ctx.ts'
import { presentUserBasic } from './basic.ts'
import { presentFullUser, presentOneself, presentProfile, type User } from './entity.ts'
import { isFollowing } from './follow-queries.ts'
import { findUserRow, type UserDetails } from './queries.ts'

/** Everything about a user, with who created them. */
export async function presentFull(ctx: Ctx, row: UserDetails): Promise<User> {
  const by = row.created_by_id === null ? undefined : await findUserRow(ctx.db, row.created_by_id)
  return presentFullUser(ctx, row, by)
}

/** The caller's own record; administrators see of themselves what they see of others. */
export async function presentCurrentUser(ctx: Ctx, row: UserDetails): Promise<User> {
  return row.admin === 1 ? await presentFull(ctx, row) : presentOneself(ctx, row)
}

/** A user as the caller sees one: everything for administrators, else the profile. */
export async function presentUser(ctx: Ctx, row: UserDetails): Promise<User> {
  if (isAdmin(ctx.actor)) return presentFull(ctx, row)
  const caller = userOf(ctx.actor)
  const followed = caller ? await isFollowing(ctx.db, caller.id, row.id) : undefined
  return presentProfile(ctx, row, followed)
}

/** A user as the caller sees one in a list. */
export function presentListed(ctx: Ctx, row: UserDetails): User {
  return isAdmin(ctx.actor) ? presentFullUser(ctx, row) : presentUserBasic(ctx, row)
}
