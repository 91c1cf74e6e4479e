import { hidden, type Problem } from '../base/problem.ts'
import type { Ctx } from '../ctx.ts'
import type { ProjectAbility } from './abilities.ts'
import { isAdmin } from './actor.ts'
import { mayInProject } from './decide.ts'
import { type Project, refusalOf } from './subjects.ts'

/**
 * What only some may ask for in the parameters of a request they may make: a date, a level, a scope. Judged after
 * validation and before the handler; the authorisation table shows it by its name.
 */
export interface Condition<G> {
  /** `sets created_at: set_timestamps` */
  readonly name: string
  /** Throws the refusal of a caller who may not; gives the parameters that are left out for this one. */
  assert(given: G): readonly string[] | Promise<readonly string[]>
}

const NOTHING: readonly string[] = []

/** True, or the refusal of a caller who may not: 401 where signing in would help, else 403. */
export function mayOr(ctx: Ctx, may: boolean): true | Problem {
  return may || refusalOf(ctx)
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
      return NOTHING
    },
  }
}

/** Administrators; 404 for everybody else. */
export const adminsOnly: Condition<{ readonly ctx: Ctx }> = condition(
  'admin, hidden from others',
  ({ ctx }) => isAdmin(ctx.actor) || hidden(),
)

/** These parameters count only from administrators; they are ignored from others. */
export function fieldsIgnoredUnlessAdmin(
  fields: readonly string[],
): Condition<{ readonly ctx: Ctx }> {
  return {
    name: `${fields.join(', ')}: ignored without admin`,
    assert: ({ ctx }) => (isAdmin(ctx.actor) ? NOTHING : fields),
  }
}

/** These fields may be sent by callers with the ability in the project only; 401 or 403 for others. */
export function fieldsNeed(
  ability: ProjectAbility,
  fields: readonly string[],
): Condition<{ readonly ctx: Ctx; readonly project: Project; readonly body: object }> {
  return condition(`${fields.join(', ')}: ${ability}`, ({ ctx, project, body }) => {
    const sent = fields.some((field) => field in body && body[field as never] !== undefined)
    return mayOr(ctx, !sent || mayInProject(ctx.actor, project, ability))
  })
}

/** These fields of the body count only from callers with the ability in the project; they are ignored from others. */
export function fieldsIgnoredUnless(
  ability: ProjectAbility,
  fields: readonly string[],
): Condition<{ readonly ctx: Ctx; readonly project: Project }> {
  return {
    name: `${fields.join(', ')}: ignored without ${ability}`,
    assert: ({ ctx, project }) => (mayInProject(ctx.actor, project, ability) ? NOTHING : fields),
  }
}
