import type { GroupAbility } from '../access/abilities.ts'
import { assertMayInGroup, type Group, getVisibleGroup, type Project } from '../access/subjects.ts'
import { badRequest } from '../base/problem.ts'
import type { Ctx } from '../ctx.ts'

/** The group of a project, for callers who may also change what belongs to it; 400 for a project of a person. */
export async function getGroupAbove(
  ctx: Ctx,
  project: Project,
  ability: GroupAbility,
  refusal: string,
): Promise<Group> {
  if (project.namespace_kind !== 'group') throw badRequest(refusal)
  const group = await getVisibleGroup(ctx, String(project.namespace_id))
  assertMayInGroup(ctx, group, ability)
  return group
}
