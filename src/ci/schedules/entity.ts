import { z } from 'zod'
import { mayInProject } from '../../access/decide.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { userBasicEntity } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import {
  pipelineBasicEntity,
  presentPipelineBasic,
} from '../../repositories/commits/pipeline-entity.ts'
import { ownsSchedule } from './access.ts'
import {
  listScheduleVariables,
  type ScheduleRow,
  type ScheduleVariableRow,
  selectSchedulePipelines,
} from './queries.ts'

/** What is sealed as the value of a variable of a schedule. */
export const SCHEDULE_PURPOSE = 'ci_schedule_variables.value'

/** A schedule in lists (docs/contract/D §1.18). */
export const scheduleEntity = z.strictObject({
  id: z.int(),
  description: z.string(),
  ref: z.string(),
  cron: z.string(),
  cron_timezone: z.string(),
  next_run_at: z.string().nullable(),
  active: z.boolean(),
  created_at: z.string(),
  updated_at: z.string(),
  owner: userBasicEntity.nullable(),
})

export const scheduleVariableEntity = z.strictObject({
  key: z.string(),
  value: z.string(),
  variable_type: z.enum(['env_var', 'file']),
  raw: z.boolean(),
})

const inputEntity = z.strictObject({ name: z.string(), value: z.unknown() })

/** One schedule; its variables are for those who may change it. */
export const scheduleDetailsEntity = z.strictObject({
  ...scheduleEntity.shape,
  last_pipeline: pipelineBasicEntity.nullable(),
  variables: z.array(scheduleVariableEntity).optional(),
  inputs: z.array(inputEntity),
})

export async function presentSchedules(
  ctx: Ctx,
  rows: readonly ScheduleRow[],
): Promise<z.input<typeof scheduleEntity>[]> {
  const users = await usersById(
    ctx,
    rows.map((row) => row.owner_id),
  )
  return rows.map((row) => ({
    id: row.id,
    description: row.description,
    ref: row.ref,
    cron: row.cron,
    cron_timezone: row.cron_timezone,
    next_run_at: row.next_run_at,
    active: row.active === 1,
    created_at: row.created_at,
    updated_at: row.updated_at,
    owner: (row.owner_id === null ? undefined : users.get(row.owner_id)) ?? null,
  }))
}

export function presentScheduleVariable(
  ctx: Pick<Ctx, 'vault'>,
  row: ScheduleVariableRow,
): z.input<typeof scheduleVariableEntity> {
  return {
    key: row.key,
    value: ctx.vault.open(row.sealed_value, SCHEDULE_PURPOSE),
    variable_type: row.variable_type,
    raw: row.raw === 1,
  }
}

export async function presentSchedule(
  ctx: Ctx,
  project: Project,
  row: ScheduleRow,
): Promise<z.input<typeof scheduleDetailsEntity>> {
  const [basic] = await presentSchedules(ctx, [row])
  if (!basic) throw new Error(`schedule ${row.id} was not presented`)
  const last = await selectSchedulePipelines(ctx.db, row.id, 'desc').limit(1).executeTakeFirst()
  const mayChange = mayInProject(ctx.actor, project, 'change_schedule', {
    author: ownsSchedule(ctx, row),
  })
  const variables = mayChange ? await listScheduleVariables(ctx.db, row.id) : undefined
  return {
    ...basic,
    last_pipeline: last ? presentPipelineBasic(ctx, project, last) : null,
    ...(variables
      ? { variables: variables.map((variable) => presentScheduleVariable(ctx, variable)) }
      : {}),
    inputs: JSON.parse(row.inputs) as { name: string; value: unknown }[], // written by us
  }
}
