import { userOf } from '../../access/actor.ts'
import { planLimit } from '../../access/plan-limits.ts'
import type { Project } from '../../access/subjects.ts'
import { invalid, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { assertCron, nextRun } from '../config/cron.ts'
import { fullRef } from './access.ts'
import type { GivenInput } from './params.ts'
import {
  countSchedules,
  findSchedule,
  insertSchedule,
  type ScheduleRow,
  updateSchedule,
} from './queries.ts'

const MOST_INPUTS = 20

/** What may be said of a schedule. */
export interface ScheduleInput {
  readonly description?: string | undefined
  readonly ref?: string | undefined
  readonly cron?: string | undefined
  readonly cron_timezone?: string | undefined
  readonly active?: boolean | undefined
  readonly inputs?: readonly GivenInput[] | undefined
}

type Named = { readonly name: string; readonly value: unknown }

/** Adds a schedule that runs as the caller. */
export async function createSchedule(
  ctx: Ctx,
  project: Project,
  input: ScheduleInput & { description: string; ref: string; cron: string },
): Promise<ScheduleRow> {
  const timezone = input.cron_timezone ?? 'UTC'
  assertDescription(input.description)
  assertCron(input.cron, timezone, ctx.now())
  const ref = await fullRef(ctx, project, input.ref)
  return await inTransaction(ctx, async (ctx) => {
    const most = planLimit(ctx.settings, 'ci_pipeline_schedules')
    if (most > 0 && (await countSchedules(ctx.db, project.id)) >= most) {
      throw invalid({ base: [`Maximum number of pipeline schedules (${most}) exceeded`] })
    }
    return await insertSchedule(ctx.db, {
      project_id: project.id,
      owner_id: userOf(ctx.actor)?.id ?? null,
      description: input.description,
      ref,
      cron: input.cron,
      cron_timezone: timezone,
      active: input.active ?? true,
      next_run_at: nextRun(input.cron, timezone, ctx.now()) ?? null,
      inputs: JSON.stringify(mergeInputs([], input.inputs ?? [])),
      created_at: ctx.now(),
      updated_at: ctx.now(),
    })
  })
}

/** Changes a schedule; its next run follows from the new times. */
export async function changeSchedule(
  ctx: Ctx,
  project: Project,
  { id }: ScheduleRow,
  input: ScheduleInput,
): Promise<ScheduleRow> {
  if (input.description !== undefined) assertDescription(input.description)
  const ref = input.ref === undefined ? undefined : await fullRef(ctx, project, input.ref)
  return await inTransaction(ctx, async (ctx) => {
    // Read here, so that what others change at the same moment stays, and fits together with this.
    const row = await findSchedule(ctx.db, id)
    if (!row) throw notFound('Pipeline Schedule')
    const cron = input.cron ?? row.cron
    const timezone = input.cron_timezone ?? row.cron_timezone
    assertCron(cron, timezone, ctx.now())
    const known = JSON.parse(row.inputs) as Named[] // written by us
    const isSame =
      cron === row.cron &&
      timezone === row.cron_timezone &&
      row.active === 1 &&
      row.next_run_at !== null
    return await updateSchedule(ctx.db, id, {
      description: input.description ?? row.description,
      ref: ref ?? row.ref,
      cron,
      cron_timezone: timezone,
      active: input.active ?? row.active === 1,
      // A run that is due stays due, unless its times are others now.
      ...(isSame ? {} : { next_run_at: nextRun(cron, timezone, ctx.now()) ?? null }),
      inputs: JSON.stringify(mergeInputs(known, input.inputs ?? [])),
      updated_at: ctx.now(),
    })
  })
}

/** Makes the caller the one as whom a schedule runs. */
export async function takeSchedule(ctx: Ctx, row: ScheduleRow): Promise<ScheduleRow> {
  const owner_id = userOf(ctx.actor)?.id ?? null
  return await updateSchedule(ctx.db, row.id, { owner_id, updated_at: ctx.now() })
}

function assertDescription(text: string): void {
  if (text.trim() === '') throw invalid({ description: ["can't be blank"] })
}

function mergeInputs(known: readonly Named[], given: readonly GivenInput[]): Named[] {
  const found = new Map(known.map((one) => [one.name, one]))
  for (const { name, value, destroy } of given) {
    if (destroy) found.delete(name)
    else found.set(name, { name, value: value ?? null })
  }
  if (found.size > MOST_INPUTS) {
    throw invalid({ inputs: [`exceed the limit of ${MOST_INPUTS}`] })
  }
  return [...found.values()]
}
