import type { Source } from '../../access/sources.ts'
import { runEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { getMembership } from './find-member.ts'
import { assertNotLastOwner } from './last-owner.ts'
import { deleteMemberRow, deleteMembersBelow, updateMemberRow } from './queries.ts'
import { recordEnded, recordMembership } from './record.ts'
import { assertExpiry, assertLevel, assertNotBelowInherited, type Grant } from './rules.ts'

/** Changes a direct membership. */
export async function changeMember(
  ctx: Ctx,
  source: Source,
  userId: number,
  change: Grant,
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const row = await getMembership(ctx, source, userId)
    assertLevel(source, change.access_level)
    assertExpiry(ctx, change.expires_at)
    // An expiry is a removal whose day is known.
    const ends = Boolean(change.expires_at) && change.expires_at !== row.expires_at
    if (ends || change.access_level < row.access_level) await assertNotLastOwner(ctx, source, row)
    if (change.access_level !== row.access_level) {
      await assertNotBelowInherited(ctx, source, userId, change.access_level)
    }
    await updateMemberRow(ctx.db, row.id, {
      access_level: change.access_level,
      updated_at: ctx.now(),
      expires_at: change.expires_at,
      member_role_id: change.member_role_id,
      // Who changes it by hand takes it over.
      provider: null,
    })
    await recordMembership(ctx, source, 'member_changed', userId, change.access_level)
  })
}

export interface Removal {
  /** Keep what the user has in groups and projects below. */
  readonly skipSubresources: boolean
  /** Take the user off issues and merge requests there, by a task. */
  readonly unassign: boolean
}

/** Removes a direct membership. */
export async function removeMember(
  ctx: Ctx,
  source: Source,
  userId: number,
  removal: Removal,
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    // Read again inside: two owners who leave at once must not both find the other.
    const row = await getMembership(ctx, source, userId)
    await assertNotLastOwner(ctx, source, row)
    await deleteMemberRow(ctx.db, row.id)
    if (source.type === 'group' && !removal.skipSubresources) {
      const below = await deleteMembersBelow(ctx.db, source.id, userId)
      await recordEnded(ctx, below, 'member_removed')
    }
    if (removal.unassign) {
      await runEffects(ctx, ctx.effects.memberUnassigned, { source, userId })
    }
    await recordMembership(ctx, source, 'member_removed', userId, row.access_level)
  })
}
