import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { endpoint, perMinute } from '../../http/endpoint.ts'
import { oneOf } from '../../http/params.ts'
import {
  pipelineBasicEntity,
  presentPipelineBasic,
} from '../../repositories/commits/pipeline-entity.ts'
import { listPage } from '../../store/pages.ts'
import { runsOnGivenRef } from '../pipelines/access.ts'
import { onPlayableSchedule, onSchedule } from './access.ts'
import {
  presentSchedule,
  presentSchedules,
  scheduleDetailsEntity,
  scheduleEntity,
} from './entity.ts'
import { scheduleOptions, scheduleParameters } from './params.ts'
import { playSchedule } from './play-schedule.ts'
import { deleteSchedule, listSchedules, selectSchedulePipelines } from './queries.ts'
import { changeSchedule, createSchedule, takeSchedule } from './save-schedule.ts'

const path = '/projects/:id/pipeline_schedules'
const one = `${path}/:pipeline_schedule_id` as const

export const listProjectSchedules = endpoint({
  method: 'GET',
  path,
  summary: 'List the schedules that start pipelines of a project',
  access: onProject('read_schedules'),
  query: { scope: oneOf(['active', 'inactive']).optional() },
  paginate: 'offset',
  response: z.array(scheduleEntity),
  async handler({ ctx, project, query, page }) {
    const active = query.scope === undefined ? undefined : query.scope === 'active'
    const rows = await listSchedules(ctx.db, project.id, active, page)
    return { ...rows, items: await presentSchedules(ctx, rows.items) }
  },
})

export const getSchedule = endpoint({
  method: 'GET',
  path: one,
  summary: 'Read a schedule',
  access: onSchedule(),
  response: scheduleDetailsEntity,
  handler: ({ ctx, project, schedule }) => presentSchedule(ctx, project, schedule),
})

export const addSchedule = endpoint({
  method: 'POST',
  path,
  summary: 'Start pipelines of a ref by the clock',
  access: onProject('create_pipeline'),
  conditions: [runsOnGivenRef],
  body: { ...scheduleParameters, ...scheduleOptions },
  response: scheduleDetailsEntity,
  status: 201,
  handler: async ({ ctx, project, body }) =>
    presentSchedule(ctx, project, await createSchedule(ctx, project, body)),
})

export const editSchedule = endpoint({
  method: 'PUT',
  path: one,
  summary: 'Change a schedule',
  access: onSchedule('change_schedule'),
  conditions: [runsOnGivenRef],
  body: {
    description: scheduleParameters.description.optional(),
    ref: scheduleParameters.ref.optional(),
    cron: scheduleParameters.cron.optional(),
    ...scheduleOptions,
  },
  response: scheduleDetailsEntity,
  handler: async ({ ctx, project, schedule, body }) =>
    presentSchedule(ctx, project, await changeSchedule(ctx, project, schedule, body)),
})

export const takeScheduleOwnership = endpoint({
  method: 'POST',
  path: `${one}/take_ownership`,
  summary: 'Take ownership of a pipeline schedule',
  access: onSchedule('admin_build'),
  response: scheduleDetailsEntity,
  status: 201,
  handler: async ({ ctx, project, schedule }) =>
    presentSchedule(ctx, project, await takeSchedule(ctx, schedule)),
})

export const dropSchedule = endpoint({
  method: 'DELETE',
  path: one,
  summary: 'Delete a schedule',
  access: onSchedule('change_schedule'),
  handler: ({ ctx, schedule }) => deleteSchedule(ctx.db, schedule.id),
})

/** Each schedule once a minute; another one is not held up. */
const PLAYS = perMinute('play_pipeline_schedule', 1, 'caller_and_subject')

export const runScheduleNow = endpoint({
  method: 'POST',
  path: `${one}/play`,
  summary: 'Run the pipeline of a schedule now, as the caller',
  access: onPlayableSchedule('create_pipeline'),
  response: z.strictObject({ message: z.string() }),
  status: 201,
  async handler({ ctx, schedule, request }) {
    request.countAgainst(PLAYS, schedule.id)
    await playSchedule(ctx, schedule)
    return { message: '201 Created' }
  },
})

export const listPipelinesOfSchedule = endpoint({
  method: 'GET',
  path: `${one}/pipelines`,
  summary: 'List the pipelines that a schedule has started',
  access: onSchedule(),
  query: { sort: oneOf(['asc', 'desc']).default('asc') },
  paginate: 'offset',
  response: z.array(pipelineBasicEntity),
  async handler({ ctx, project, schedule, query, page }) {
    const rows = await listPage(
      ctx.db,
      selectSchedulePipelines(ctx.db, schedule.id, query.sort),
      page,
    )
    return { ...rows, items: rows.items.map((row) => presentPipelineBasic(ctx, project, row)) }
  },
})
