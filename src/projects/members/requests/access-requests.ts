import { userOf } from '../../../access/actor.ts'
import { Role } from '../../../access/roles.ts'
import type { Source } from '../../../access/sources.ts'
import { dayOf } from '../../../base/clock.ts'
import { runEffects } from '../../../base/effects.ts'
import { existing, invalid, notFound, unauthorized } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { uniquely } from '../../../store/unique.ts'
import { assertGrant } from '../add-member.ts'
import { mailOfMember } from '../mails.ts'
import {
  deleteMemberRow,
  findMemberUser,
  findRowOfUser,
  insertMember,
  updateMemberRow,
} from '../queries.ts'
import { recordAccepted } from '../record.ts'
import type { MemberRow } from '../rows.ts'
import { assertMayBelong, assertNotBelowInherited } from '../rules.ts'
import { findRequester, listDeciders, type RequesterRow } from './queries.ts'

/** Asks for access for the caller; 400 when a request is pending (docs/contract/A-resolved §10). */
export async function requestAccess(ctx: Ctx, source: Source): Promise<RequesterRow> {
  const user = userOf(ctx.actor)
  if (!user) throw unauthorized()
  const already = () => invalid({ user_id: ['already exists in source'] })
  await assertMayBelong(ctx, source, existing(await findMemberUser(ctx.db, user)))
  const now = ctx.now()
  await uniquely({ 'members.source_type, members.source_id, members.user_id': already }, () =>
    inTransaction(ctx, async (ctx) => {
      const { db } = ctx
      const row = await findRowOfUser(db, source, user.id)
      if (row && row.requested_at !== null) throw already()
      // What is left of a membership that has ended.
      if (row) await deleteMemberRow(db, row.id)
      await insertMember(db, {
        source_type: source.type,
        source_id: source.id,
        user_id: user.id,
        access_level: Role.developer,
        requested_at: now,
        created_at: now,
        updated_at: now,
      })
      const request = {
        source,
        change: 'requested',
        userId: user.id,
        level: Role.developer,
      } as const
      await runEffects(ctx, ctx.effects.memberChanged, request)
      const deciders = await listDeciders(ctx.db, source, dayOf(now))
      await runEffects(ctx, ctx.effects.accessRequested, { source, deciders })
      await mailOfMember(ctx, source, 'requested', user.id, Role.developer)
    }),
  )
  return existing(await findRequester(ctx.db, source, user.id))
}

/** The pending request of a user, or 404. */
export async function getRequest(ctx: Ctx, source: Source, userId: number): Promise<MemberRow> {
  const row = await findRowOfUser(ctx.db, source, userId)
  if (!row || row.requested_at === null) throw notFound()
  return row
}

/** Makes a requester a member. */
export async function approveRequest(
  ctx: Ctx,
  source: Source,
  userId: number,
  level: number,
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const row = await getRequest(ctx, source, userId)
    await assertGrant(ctx, source, { access_level: level })
    await assertNotBelowInherited(ctx, source, userId, level)
    const now = ctx.now()
    await updateMemberRow(ctx.db, row.id, {
      access_level: level,
      requested_at: null,
      created_by_id: userOf(ctx.actor)?.id ?? null,
      created_at: now,
      updated_at: now,
    })
    await recordAccepted(ctx, source, userId, level)
  })
}

/** Denies a request, or withdraws the caller's own. */
export async function denyRequest(ctx: Ctx, source: Source, userId: number): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    // Read again inside: somebody may have made a member of the requester a moment ago.
    const row = await getRequest(ctx, source, userId)
    await deleteMemberRow(ctx.db, row.id)
    const member = { userId, level: row.access_level }
    await runEffects(ctx, ctx.effects.memberChanged, { source, change: 'denied', ...member })
    await runEffects(ctx, ctx.effects.accessDecided, { source, userId: member.userId })
    await mailOfMember(ctx, source, 'denied', member.userId, member.level)
  })
}
