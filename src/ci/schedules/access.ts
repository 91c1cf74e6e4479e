import { userOf } from '../../access/actor.ts'
import { projectRecord } from '../../access/records.ts'
import type { Project } from '../../access/subjects.ts'
import { forbidden, invalid, notFound, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { id, text } from '../../http/params.ts'
import { mayRunOn } from '../pipelines/access.ts'
import { findPipelineRef } from '../pipelines/create/find-ref.ts'
import { findSchedule, listScheduleVariables, type ScheduleRow } from './queries.ts'

const params = { pipeline_schedule_id: id() }

async function getSchedule(ctx: Ctx, project: Project, scheduleId: number): Promise<ScheduleRow> {
  const schedule = await findSchedule(ctx.db, scheduleId)
  if (schedule?.project_id !== project.id) throw notFound('Pipeline Schedule')
  return schedule
}

/** Whether a schedule starts pipelines as the caller. */
export function ownsSchedule(ctx: Pick<Ctx, 'actor'>, schedule: ScheduleRow): boolean {
  const caller = userOf(ctx.actor)
  return caller !== null && schedule.owner_id === caller.id
}

export const onSchedule = projectRecord('read_schedules', {
  params,
  find: async ({ ctx, project, params }) => ({
    schedule: await getSchedule(ctx, project, params.pipeline_schedule_id),
  }),
  conditions: ({ ctx, schedule }) => ({ author: ownsSchedule(ctx, schedule) }),
})

/** A variable of a schedule. */
export const onScheduleVariable = projectRecord('read_schedules', {
  params: { ...params, key: text({ max: 255 }) },
  async find({ ctx, project, params }) {
    const schedule = await getSchedule(ctx, project, params.pipeline_schedule_id)
    const rows = await listScheduleVariables(ctx.db, schedule.id)
    const variable = rows.find((row) => row.key === params.key)
    if (!variable) throw notFound('Variable')
    return { schedule, variable }
  },
  conditions: ({ ctx, schedule }) => ({ author: ownsSchedule(ctx, schedule) }),
})

/** A schedule whose ref the caller may run pipelines on. */
export const onPlayableSchedule = projectRecord('read_schedules', {
  params,
  async find({ ctx, project, params }) {
    const schedule = await getSchedule(ctx, project, params.pipeline_schedule_id)
    const at = { ref: shortRef(schedule.ref), tag: schedule.ref.startsWith('refs/tags/') }
    if (!(await mayRunOn(ctx, project, at))) throw forbidden()
    return { schedule }
  },
})

function shortRef(ref: string): string {
  return ref.replace(/^refs\/(heads|tags)\//, '')
}

/** The ref of a schedule in full: 400 when there is none of the name, or two. */
export async function fullRef(ctx: Ctx, project: Project, given: string): Promise<string> {
  try {
    const found = await findPipelineRef(ctx, project, given)
    return `refs/${found.tag ? 'tags' : 'heads'}/${found.ref}`
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw invalid({ ref: ['is ambiguous or does not exist'] })
  }
}
