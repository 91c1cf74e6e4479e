import { audit, sourceEntity } from '../../access/audit.ts'
import type { SourceRef } from '../../access/sources.ts'
import { runEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import { mailOfMember } from './mails.ts'
import type { EndedRow } from './rows.ts'

const feedWords = {
  member_added: 'joined',
  member_removed: 'left',
  member_expired: 'removed due to membership expiration from',
} as const

/** Puts a change of membership on the audit trail, and coming and going into the project's feed. */
export async function recordMembership(
  ctx: Ctx,
  source: SourceRef,
  action: 'member_added' | 'member_changed' | 'member_removed' | 'member_expired',
  userId: number,
  level: number,
): Promise<void> {
  await audit(ctx, {
    entity: sourceEntity(source),
    action,
    details: { user_id: userId, access_level: level },
  })
  const change = action === 'member_expired' ? 'member_removed' : action
  await runEffects(ctx, ctx.effects.memberChanged, { source, change, userId, level })
  if (action === 'member_added') await mailOfMember(ctx, source, 'added', userId, level)
  if (source.type !== 'project' || action === 'member_changed') return
  const activity = { projectId: source.id, action: feedWords[action], authorId: userId }
  await runEffects(ctx, ctx.effects.activity, activity)
}

/** A new member whose request for access, if there was one, is decided by that. */
export async function recordAccepted(
  ctx: Ctx,
  source: SourceRef,
  userId: number,
  level: number,
): Promise<void> {
  await recordMembership(ctx, source, 'member_added', userId, level)
  await runEffects(ctx, ctx.effects.accessDecided, { source, userId })
}

/** The same of rows that were deleted; requests and invitations among them were no memberships. */
export async function recordEnded(
  ctx: Ctx,
  rows: readonly EndedRow[],
  action: 'member_removed' | 'member_expired',
): Promise<void> {
  for (const row of rows) {
    if (row.user_id === null || row.requested_at !== null) continue
    const source = { type: row.source_type, id: row.source_id }
    await recordMembership(ctx, source, action, row.user_id, row.access_level)
  }
}

export async function recordShare(
  ctx: Ctx,
  source: SourceRef,
  action: 'shared_with_group' | 'unshared_with_group',
  groupId: number,
): Promise<void> {
  await audit(ctx, {
    entity: sourceEntity(source),
    action,
    details: { group_id: groupId },
  })
}
