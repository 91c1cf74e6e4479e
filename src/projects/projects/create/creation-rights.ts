import { isAdmin, userOf } from '../../../access/actor.ts'
import { Role } from '../../../access/roles.ts'
import type { Group } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'

/** Least role for `project_creation_level` (docs/contract/D §1.3). */
const creationRoles: Readonly<Record<string, number>> = {
  developer: Role.developer,
  maintainer: Role.maintainer,
  owner: Role.owner,
}

/** Whether the caller may put new projects into the group (docs/contract/D §2.3). */
export function mayCreateProjectsIn(ctx: Ctx, group: Group): boolean {
  if (group.archived) return false
  if (isAdmin(ctx.actor)) return true
  const least = creationRoles[group.project_creation_level]
  return least !== undefined && userOf(ctx.actor) !== null && group.role >= least
}
