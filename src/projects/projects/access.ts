import { type Condition, condition, mayOr } from '../../access/conditions.ts'
import { mayInProject } from '../../access/decide.ts'
import type { Visibility } from '../../access/roles.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'

interface Changing {
  readonly ctx: Ctx
  readonly project: Project
  readonly body: { readonly visibility?: Visibility | undefined }
}

/** Another visibility takes more than the other settings; the same one may be sent along. */
export const changesVisibility: Condition<Changing> = condition(
  'visibility: change_visibility, where it changes',
  ({ ctx, project, body: { visibility } }) => {
    const changes = visibility !== undefined && visibility !== project.visibility
    return mayOr(ctx, !changes || mayInProject(ctx.actor, project, 'change_visibility'))
  },
)
