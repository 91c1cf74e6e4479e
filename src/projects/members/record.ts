import { audit, sourceEntity } from '../../access/audit.ts'
import type { SourceRef } from '../../access/sources.ts'
import { runEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import { mailOfMember } from './mails.ts'

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
