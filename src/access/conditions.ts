import { forbidden, type Problem, unauthorized } from '../base/problem.ts'
import type { Ctx } from '../ctx.ts'
import type { ProjectAbility } from './abilities.ts'
import { mayInProject } from './decide.ts'
import type { Project } from './subjects.ts'

/**
 * What only some may ask for in the parameters of a request they may make: a date, a level, a scope. Judged after
 * validation and before the handler; the authorisation table shows it by its name.
 */
export interface Condition<G> {
  /** `sets created_at: set_timestamps` */
  readonly name: string
  /** Throws the refusal of a caller who may not. */
  assert(given: G): void | Promise<void>
}

/** A condition from a plain function: `true`, or the refusal. */
export function condition<G>(
  name: string,
  judge: (given: G) => true | Problem | Promise<true | Problem>,
): Condition<G> {
  return {
    name,
    async assert(given) {
      const answer = await judge(given)
      if (answer !== true) throw answer
    },
  }
}

/** These fields may be sent by callers with the ability in the project only; 401 or 403 for others. */
export function fieldsNeed(
  ability: ProjectAbility,
  fields: readonly string[],
): Condition<{ readonly ctx: Ctx; readonly project: Project; readonly body: object }> {
  return condition(`${fields.join(', ')}: ${ability}`, ({ ctx, project, body }) => {
    const sent = fields.some((field) => field in body && body[field as never] !== undefined)
    if (!sent || mayInProject(ctx.actor, project, ability)) return true
    return ctx.actor.kind === 'anonymous' ? unauthorized() : forbidden()
  })
}
