import { isAdmin } from '../../access/actor.ts'
import { type Condition, condition, mayOr } from '../../access/conditions.ts'
import { mayInProject } from '../../access/decide.ts'
import type { Project } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'

/** Administrators alone say of a project that it is a fork; others don't learn what is there. */
export const relatesForks: Condition<{ readonly ctx: Ctx }> = condition(
  'admin, else 404',
  ({ ctx }) => isAdmin(ctx.actor) || notFound('Source Project'),
)

/** A fork is a copy of the code, so that it takes the right to read that, beside the right to fork. */
export const copiesCode: Condition<{ readonly ctx: Ctx; readonly project: Project }> = condition(
  'download_code',
  ({ ctx, project }) => mayOr(ctx, mayInProject(ctx.actor, project, 'download_code')),
)
