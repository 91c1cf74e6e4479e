import type { ProjectAbility } from '../../access/abilities.ts'
import { mayInProject } from '../../access/decide.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'

/** What the caller may do in a project, one question after the other. */
export function rightsIn(ctx: Ctx, project: Project): (ability: ProjectAbility) => boolean {
  return (ability) => mayInProject(ctx.actor, project, ability)
}
