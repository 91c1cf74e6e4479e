import { isAdmin, userOf } from '../../access/actor.ts'
import { findGroupRole } from '../../access/find-queries.ts'
import type { Project } from '../../access/subjects.ts'
import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import type { BranchRule, Level, Mover, TagRule } from './protection.ts'

/** The caller as protection rules see them; asks for memberships only of groups that a rule names. */
export async function getMover(
  ctx: Ctx,
  project: Project,
  branchRules: readonly BranchRule[],
  tagRules: readonly TagRule[],
): Promise<Mover> {
  const levels: readonly Level[] = [
    ...branchRules.flatMap((rule) => [...rule.push, ...rule.merge, ...rule.unprotect]),
    ...tagRules.flatMap((rule) => rule.create),
  ]
  const user = userOf(ctx.actor)
  const named = new Set(levels.flatMap((level) => level.group_id ?? []))
  const groupIds = new Set<number>()
  if (user) {
    for (const id of named) {
      if ((await findGroupRole(ctx.db, user.id, id, dayOf(ctx.now()))) > 0) groupIds.add(id)
    }
  }
  return {
    userId: user?.id ?? null,
    deployKeyId: null,
    role: project.role,
    admin: isAdmin(ctx.actor),
    groupIds,
  }
}
