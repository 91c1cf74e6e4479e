import { isAdmin, userOf } from '../../access/actor.ts'
import { dayOf } from '../../base/clock.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type Member, presentMember } from './entity.ts'
import { findMemberView, type MemberScope } from './list-queries.ts'
import type { MemberSource } from './source.ts'

/** What a list of members is read for: the source, the viewer, the day. */
export function memberScope(ctx: Ctx, source: MemberSource, all: boolean): MemberScope {
  const viewer = {
    userId: userOf(ctx.actor)?.id ?? 0,
    admin: isAdmin(ctx.actor),
    member: source.role > 0,
  }
  return { source, all, viewer, today: dayOf(ctx.now()) }
}

/** One member of a source as answers show it, or 404. */
export async function readMember(
  ctx: Ctx,
  source: MemberSource,
  userId: number,
  all: boolean,
): Promise<Member> {
  const row = await findMemberView(ctx.db, memberScope(ctx, source, all), userId)
  if (!row) throw notFound()
  return presentMember(ctx, row)
}
