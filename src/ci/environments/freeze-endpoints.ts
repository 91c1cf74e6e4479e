import { z } from 'zod'
import { projectRecord } from '../../access/records.ts'
import { onProject } from '../../access/subjects.ts'
import { invalid, notFound, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { id, text } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import { assertCron } from '../config/cron.ts'
import {
  countFreezes,
  deleteFreeze,
  type FreezeRow,
  findFreeze,
  insertFreeze,
  listFreezes,
  updateFreeze,
} from './freeze-queries.ts'

const path = '/projects/:id/freeze_periods'

/** Each is looked at for each job. */
const MOST_FREEZES = 50

const freezeEntity = z.strictObject({
  id: z.int(),
  freeze_start: z.string(),
  freeze_end: z.string(),
  cron_timezone: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})

function presentFreeze(row: FreezeRow): z.input<typeof freezeEntity> {
  const { id, freeze_start, freeze_end, cron_timezone, created_at, updated_at } = row
  return { id, freeze_start, freeze_end, cron_timezone, created_at, updated_at }
}

const onFreeze = projectRecord('read_freeze_periods', {
  params: { freeze_period_id: id() },
  async find({ ctx, project, params }) {
    const freeze = await findFreeze(ctx.db, project.id, params.freeze_period_id)
    if (!freeze) throw notFound('Freeze Period')
    return { freeze }
  },
})

interface Times {
  readonly freeze_start: string
  readonly freeze_end: string
  readonly cron_timezone: string
}

function assertTimes(ctx: Pick<Ctx, 'now'>, given: Times): void {
  for (const field of ['freeze_start', 'freeze_end'] as const) {
    try {
      assertCron(given[field], given.cron_timezone, ctx.now())
    } catch (error) {
      if (!(error instanceof Problem) || error.fields?.cron_timezone) throw error
      throw invalid({ [field]: [' is invalid syntax'] })
    }
  }
}

export const listFreezePeriods = endpoint({
  method: 'GET',
  path,
  summary: 'List the times in which a project deploys nothing',
  access: onProject('read_freeze_periods'),
  paginate: 'offset',
  response: z.array(freezeEntity),
  async handler({ ctx, project, page }) {
    const rows = await listFreezes(ctx.db, project.id, page)
    return { ...rows, items: rows.items.map(presentFreeze) }
  },
})

export const getFreezePeriod = endpoint({
  method: 'GET',
  path: `${path}/:freeze_period_id`,
  summary: 'Read a time in which a project deploys nothing',
  access: onFreeze(),
  response: freezeEntity,
  handler: ({ freeze }) => presentFreeze(freeze),
})

export const addFreezePeriod = endpoint({
  method: 'POST',
  path,
  summary: 'Add a time in which a project deploys nothing',
  access: onProject('admin_freeze_periods'),
  body: {
    freeze_start: text({ max: 255 }),
    freeze_end: text({ max: 255 }),
    cron_timezone: text({ max: 255 }).optional(),
  },
  response: freezeEntity,
  status: 201,
  async handler({ ctx, project, body }) {
    const given = { ...body, cron_timezone: body.cron_timezone ?? 'UTC' }
    assertTimes(ctx, given)
    const now = { created_at: ctx.now(), updated_at: ctx.now() }
    return await inTransaction(ctx, async ({ db }) => {
      if ((await countFreezes(db, project.id)) >= MOST_FREEZES) {
        throw invalid({ base: [`Maximum number of freeze periods (${MOST_FREEZES}) exceeded`] })
      }
      return presentFreeze(await insertFreeze(db, { ...given, ...now, project_id: project.id }))
    })
  },
})

export const editFreezePeriod = endpoint({
  method: 'PUT',
  path: `${path}/:freeze_period_id`,
  summary: 'Change a time in which a project deploys nothing',
  access: onFreeze('admin_freeze_periods'),
  body: {
    freeze_start: text({ max: 255 }).optional(),
    freeze_end: text({ max: 255 }).optional(),
    cron_timezone: text({ max: 255 }).optional(),
  },
  response: freezeEntity,
  async handler({ ctx, freeze, body }) {
    const given = {
      freeze_start: body.freeze_start ?? freeze.freeze_start,
      freeze_end: body.freeze_end ?? freeze.freeze_end,
      cron_timezone: body.cron_timezone ?? freeze.cron_timezone,
    }
    assertTimes(ctx, given)
    return presentFreeze(await updateFreeze(ctx.db, freeze.id, { ...given, updated_at: ctx.now() }))
  },
})

export const dropFreezePeriod = endpoint({
  method: 'DELETE',
  path: `${path}/:freeze_period_id`,
  summary: 'Remove a time in which a project deploys nothing',
  access: onFreeze('admin_freeze_periods'),
  handler: ({ ctx, freeze }) => deleteFreeze(ctx.db, freeze.id),
})
