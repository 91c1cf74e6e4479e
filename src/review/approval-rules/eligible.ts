import { Role } from '../../access/roles.ts'
import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { listGroupMemberIds, listMemberIds, type NamedRule } from './queries.ts'

/** Whom a project's rule would let approve, before any merge request bars its author. */
export async function eligibleFor(
  ctx: Ctx,
  projectId: number,
  rule: NamedRule,
): Promise<ReadonlySet<number>> {
  const today = dayOf(ctx.now())
  if (rule.rule_type === 'any_approver') {
    return listMemberIds(ctx.db, projectId, Role.developer, today)
  }
  const members = await listMemberIds(ctx.db, projectId, Role.guest, today)
  const groups = await listGroupMemberIds(ctx.db, rule.groupIds, today)
  const users = rule.userIds.filter((id) => members.has(id))
  return new Set([...users, ...[...groups.values()].flatMap((ids) => [...ids])])
}
