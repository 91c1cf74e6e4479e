import { isAdmin, userOf } from '../../access/actor.ts'
import type { Ctx } from '../../ctx.ts'
import { presentUserBasic } from './basic.ts'
import { presentFullUser, presentOneself, presentProfile, type User } from './entity.ts'
import { usersById } from './find-basic.ts'
import { isFollowing } from './follow-queries.ts'
import type { UserDetails } from './queries.ts'

/** Everything about a user, with who created them. */
export async function presentFull(ctx: Ctx, row: UserDetails): Promise<User> {
  const creators = await usersById(ctx, [row.created_by_id])
  return presentFullUser(ctx, row, creators.get(row.created_by_id ?? 0))
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

/** Users as the caller sees them in a list. */
export async function presentListed(ctx: Ctx, rows: readonly UserDetails[]): Promise<User[]> {
  if (!isAdmin(ctx.actor)) return rows.map((row) => presentUserBasic(ctx, row))
  const creators = await usersById(
    ctx,
    rows.map((row) => row.created_by_id),
  )
  return rows.map((row) => presentFullUser(ctx, row, creators.get(row.created_by_id ?? 0)))
}
