import type { SourceRef } from '../../access/sources.ts'
import { dayOf } from '../../base/clock.ts'
import { conflict, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { findMemberUser, findRowOfUser } from './queries.ts'
import type { MemberRow } from './rows.ts'

/** How a request names a user. */
export type UserKey = { readonly id: number } | { readonly username: string }

/** Whether a row is a membership in force: accepted, and not over. */
export function isInForce(row: MemberRow, today: string): boolean {
  return row.requested_at === null && (row.expires_at === null || row.expires_at > today)
}

/** The direct membership of a user in a source, or 404. */
export async function getMembership(
  ctx: Ctx,
  source: SourceRef,
  userId: number,
): Promise<MemberRow> {
  const row = await findRowOfUser(ctx.db, source, userId)
  if (!row || !isInForce(row, dayOf(ctx.now()))) throw notFound()
  return row
}

/** A user who is no member yet, with the request or ended membership there may be: 404 for an unknown user, 409 for a member. */
export async function getNewcomer(ctx: Ctx, source: SourceRef, by: UserKey) {
  const user = await findMemberUser(ctx.db, by)
  if (!user || user.kind === 'ghost') throw notFound('User')
  const row = await findRowOfUser(ctx.db, source, user.id)
  if (row && isInForce(row, dayOf(ctx.now()))) throw conflict('Member already exists')
  return { user, row }
}
