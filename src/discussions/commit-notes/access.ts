import { mayInProject } from '../../access/decide.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'

/** Whether the caller may tag a commit by a comment on it. */
export function mayTagCommits(ctx: Ctx, project: Project): boolean {
  return mayInProject(ctx.actor, project, 'push_code')
}
