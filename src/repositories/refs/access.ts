import { userOf } from '../../access/actor.ts'
import { mayInProject } from '../../access/decide.ts'
import { findGroupRole } from '../../access/find-queries.ts'
import { Role } from '../../access/roles.ts'
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
    groupIds,
    may: (ability) => mayInProject(ctx.actor, project, ability),
    hasLevel: (level) =>
      level === Role.admin ? mayInProject(ctx.actor, project, 'admin_only') : project.role >= level,
  }
}

/** Why the caller may push to no branch of the project at all. */
export function refusalOfPushes(ctx: Ctx, project: Project): string | undefined {
  if (project.archived) return "You can't push code to an archived project."
  if (mayInProject(ctx.actor, project, 'push_code')) return undefined
  return 'You are not allowed to push code to this project.'
}
