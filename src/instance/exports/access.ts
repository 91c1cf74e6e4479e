import { mayInProject } from '../../access/decide.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'

/** Whether an import by the caller may take the place of a project that is there. */
export function mayReplace(ctx: Ctx, project: Project): boolean {
  return mayInProject(ctx.actor, project, 'delete_project')
}
