import { isAdmin } from '../../access/actor.ts'
import { type Condition, condition } from '../../access/conditions.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'

/** Administrators alone say of a project that it is a fork; others don't learn what is there. */
export const relatesForks: Condition<{ readonly ctx: Ctx }> = condition(
  'admin, else 404',
  ({ ctx }) => isAdmin(ctx.actor) || notFound('Source Project'),
)
