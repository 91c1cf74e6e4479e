import { z } from 'zod'
import { actAs } from '../../access/act-as.ts'
import { findProjectById } from '../../access/find-queries.ts'
import { type Project, withProjectRole } from '../../access/subjects.ts'
import { task } from '../../background/task.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { nextRun } from '../config/cron.ts'
import { mayRunOn, mayRunPipelines, refusedVariables } from '../pipelines/access.ts'
import { createEventPipeline } from '../pipelines/create/event-pipeline.ts'
import { findPipelineRef } from '../pipelines/create/find-ref.ts'
import type { PipelineInput } from '../pipelines/create/pipeline-input.ts'
import { presentScheduleVariable } from './entity.ts'
import { scheduledRun } from './play-schedule.ts'
import {
  claimRun,
  deletePlay,
  findSchedule,
  listDueSchedules,
  listScheduleVariables,
  type ScheduleRow,
  updateSchedule,
} from './queries.ts'

const AT_ONCE = 500

/** Starts what has come round; each run is a task of its own, so that one holds up no other. */
export const startDueSchedules = task({
  name: 'schedules.start_due',
  payload: z.object({}),
  async handler(ctx: Ctx) {
    for (const row of await listDueSchedules(ctx.db, ctx.now(), AT_ONCE)) {
      const at = row.next_run_at ?? ctx.now()
      const payload = { schedule_id: row.id, user_id: row.owner_id, by: 'clock' as const, at }
      await ctx.work.enqueue(ctx.db, scheduledRun, payload, { uniqueKey: `${row.id} ${at}` })
    }
  },
})

/**
 * Makes the pipeline of one run of a schedule, once however often the task runs. A schedule whose owner may no longer run
 * pipelines on its ref is switched off, so that it does not fail for ever.
 */
export const runSchedule = task({
  ...scheduledRun,
  lane: 'slow',
  async handler(given: Ctx, { schedule_id, user_id, by, at }) {
    const row = await findSchedule(given.db, schedule_id)
    if (!row || (by === 'clock' && row.next_run_at !== at)) return
    const next = nextRun(row.cron, row.cron_timezone, given.now()) ?? null
    const claim = ({ db }: Ctx) =>
      by === 'clock' ? claimRun(db, row.id, at, next) : deletePlay(db, Number(at))
    const ctx = user_id === null ? given : await actAs(given, user_id)
    if (!(await makePipeline(ctx, row, claim)) && by === 'clock') {
      await updateSchedule(given.db, row.id, { active: false, updated_at: given.now() })
    }
    // Without a pipeline nothing has noted that the run is over.
    await claim(given)
  },
})

/** False when the schedule can have none as long as nothing changes. */
async function makePipeline(
  ctx: Ctx,
  row: ScheduleRow,
  claim: (ctx: Ctx) => Promise<boolean>,
): Promise<boolean> {
  const found = await findProjectById(ctx.db, row.project_id)
  if (!found || ctx.actor.kind !== 'user' || ctx.actor.user.state !== 'active') return false
  const project = await withProjectRole(ctx, found)
  if (!mayRunPipelines(ctx, project)) return false
  const at = await refOf(ctx, project, row.ref)
  if (!at || !(await mayRunOn(ctx, project, at))) return false
  const inputs = JSON.parse(row.inputs) as { name: string; value: unknown }[] // written by us
  const variables = await listScheduleVariables(ctx.db, row.id)
  await createEventPipeline(ctx, project, at, {
    ref: at.ref,
    source: 'schedule',
    scheduleId: row.id,
    refused: refusedVariables(project, variables),
    variables: variables.map((variable) => presentScheduleVariable(ctx, variable)),
    inputs: Object.fromEntries(
      inputs.map(({ name, value }) => [name, value]),
    ) as PipelineInput['inputs'], // the configuration checks their types
    known: new Map([['CI_PIPELINE_SCHEDULE_DESCRIPTION', row.description]]),
    skipped: false,
    claim,
    showsFaults: true,
  })
  return true
}

async function refOf(ctx: Ctx, project: Project, ref: string) {
  try {
    return await findPipelineRef(ctx, project, ref)
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}
