import { type Condition, condition } from '../../access/conditions.ts'
import { mayInProject } from '../../access/decide.ts'
import type { Project } from '../../access/subjects.ts'
import { forbidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'

/** Of an archived project only maintainers see who approves (docs/contract/B-resolved §8.1). */
export const readsOfArchived: Condition<{ readonly ctx: Ctx; readonly project: Project }> =
  condition(
    'of an archived project: read_archived_approval_rules',
    ({ ctx, project }) =>
      !project.archived ||
      mayInProject(ctx.actor, project, 'read_archived_approval_rules') ||
      forbidden(),
  )
