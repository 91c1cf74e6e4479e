import { mayInProject } from '../../access/decide.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'

/** Whether the caller may take away locks of others. */
export function mayForceUnlock(ctx: Ctx, project: Project): boolean {
  return mayInProject(ctx.actor, project, 'force_unlock')
}
