import type { ProjectAbility } from '../../access/abilities.ts'
import { projectRecord } from '../../access/records.ts'
import type { Project, SubjectOptions } from '../../access/subjects.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type Endpoint, endpoint, type Shape } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { readDuration, timeStats } from './duration.ts'
import { timeStatsEntity } from './entity.ts'
import { sumTime } from './queries.ts'
import { removeSpentTime, setEstimate, spendTime, type Timed, type TimedSubject } from './verbs.ts'

/** One kind of thing that time is spent on, as the routes need to know it. */
export interface TimedKind extends Timed {
  /** `/projects/:id/issues/:issue_iid` */
  readonly path: string
  readonly params: Shape
  readonly tag: string
  readonly read: ProjectAbility
  readonly write: ProjectAbility
  find(ctx: Ctx, project: Project, params: Readonly<Record<string, unknown>>): Promise<TimedSubject>
}

function seconds(duration: string): number {
  const read = readDuration(duration)
  if (read === null) throw badRequest('duration is invalid')
  return read
}

async function stats(
  ctx: Ctx,
  kind: TimedKind,
  subject: TimedSubject,
  estimate = subject.estimate,
) {
  return timeStats(ctx, estimate, await sumTime(ctx.db, kind.type, subject.id))
}

async function estimate(ctx: Ctx, kind: TimedKind, subject: TimedSubject, amount: number) {
  await setEstimate(ctx, kind, subject, amount)
  return stats(ctx, kind, subject, amount)
}

/** The thing that time is spent on, for callers with the ability there. */
function onTimed(kind: TimedKind, ability: ProjectAbility, options: SubjectOptions = {}) {
  return projectRecord(kind.read, {
    params: kind.params,
    find: async ({ ctx, project, params }) => ({ subject: await kind.find(ctx, project, params) }),
  })(ability, options)
}

/** The routes of time below one kind of thing (docs/contract/D §1.9). */
export function timeEndpoints(kind: TimedKind): Endpoint[] {
  const tags = [kind.tag]
  const write = {
    access: onTimed(kind, kind.write, { signedIn: true }),
    tags,
    status: 200,
    response: timeStatsEntity,
  }
  const duration = text({ max: 100 })
  return [
    endpoint({
      method: 'GET',
      path: `${kind.path}/time_stats`,
      summary: 'Get the time estimate and the time spent',
      access: onTimed(kind, kind.read),
      tags,
      response: timeStatsEntity,
      handler: ({ ctx, subject }) => stats(ctx, kind, subject),
    }),
    endpoint({
      ...write,
      method: 'POST',
      path: `${kind.path}/time_estimate`,
      summary: 'Set the estimated time',
      body: { duration },
      handler: ({ ctx, subject, body }) =>
        estimate(ctx, kind, subject, Math.max(0, seconds(body.duration))),
    }),
    endpoint({
      ...write,
      method: 'POST',
      path: `${kind.path}/reset_time_estimate`,
      summary: 'Set the estimated time to nothing',
      handler: ({ ctx, subject }) => estimate(ctx, kind, subject, 0),
    }),
    endpoint({
      ...write,
      method: 'POST',
      path: `${kind.path}/add_spent_time`,
      summary: 'Add spent time, or take some away',
      body: { duration, summary: text({ max: 255 }).nullish() },
      status: 201,
      handler: async ({ ctx, subject, body }) => {
        const summary = body.summary ?? null
        await spendTime(ctx, kind, subject, { seconds: seconds(body.duration), summary })
        return stats(ctx, kind, subject)
      },
    }),
    endpoint({
      ...write,
      method: 'POST',
      path: `${kind.path}/reset_spent_time`,
      summary: 'Set the spent time to nothing',
      async handler({ ctx, subject }) {
        await removeSpentTime(ctx, kind, subject)
        return stats(ctx, kind, subject)
      },
    }),
  ]
}
