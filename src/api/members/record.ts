import { audit } from '../../access/audit.ts'
import type { Ctx } from '../../ctx.ts'
import { recordEvent } from '../events/record.ts'
import type { Source } from './rows.ts'

const entityTypes = { group: 'Group', project: 'Project' } as const

/** Puts a change of membership on the audit trail, and coming and going into the project's feed. */
export async function recordMembership(
  ctx: Ctx,
  source: Source,
  action: 'member_added' | 'member_changed' | 'member_removed',
  userId: number,
  level: number,
): Promise<void> {
  await audit(ctx, {
    entity: { type: entityTypes[source.type], id: source.id },
    action,
    details: { user_id: userId, access_level: level },
  })
  if (source.type !== 'project' || action === 'member_changed') return
  await recordEvent(ctx, {
    projectId: source.id,
    action: action === 'member_added' ? 'joined' : 'left',
    authorId: userId,
  })
}

export async function recordShare(
  ctx: Ctx,
  source: Source,
  action: 'shared_with_group' | 'unshared_with_group',
  groupId: number,
): Promise<void> {
  await audit(ctx, {
    entity: { type: entityTypes[source.type], id: source.id },
    action,
    details: { group_id: groupId },
  })
}
