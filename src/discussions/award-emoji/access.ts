import type { ProjectAbility } from '../../access/abilities.ts'
import { userOf } from '../../access/actor.ts'
import { projectRecord } from '../../access/records.ts'
import { assertMayInProject, type Project } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Shape } from '../../http/endpoint.ts'
import { id } from '../../http/params.ts'
import type { Awardable } from './awardable.ts'
import { findAward } from './queries.ts'

/** One kind of awardable, as access and routes need to know it. */
export interface AwardableKind {
  readonly path: string
  readonly params: Shape
  readonly ability: ProjectAbility
  find(ctx: Ctx, project: Project, params: Readonly<Record<string, unknown>>): Promise<Awardable>
}

/** The thing that reactions hang on, for callers with the ability there. */
export function onAwardable(kind: AwardableKind, ability?: ProjectAbility) {
  return projectRecord(kind.ability, {
    params: kind.params,
    find: async ({ ctx, project, params }) => ({
      subject: await kind.find(ctx, project, params),
    }),
  })(ability, ability ? { signedIn: true } : {})
}

/** A reaction to the thing. */
export function onAward(kind: AwardableKind, ability?: ProjectAbility) {
  return projectRecord(kind.ability, {
    params: { ...kind.params, award_id: id() },
    async find({ ctx, project, params }) {
      const subject = await kind.find(ctx, project, params)
      const row = await findAward(ctx.db, subject.type, subject.id, Number(params.award_id))
      if (!row) throw notFound('Award Emoji')
      return { subject, row }
    },
    conditions: ({ ctx, row }) => ({ oneself: row.id === userOf(ctx.actor)?.id }),
  })(ability, ability ? { signedIn: true } : {})
}

/** Refuses to react in passing, by a quick action, for who may not. */
export function assertMayAward(ctx: Ctx, project: Project): void {
  assertMayInProject(ctx, project, 'award_emoji')
}
