import { z } from 'zod'
import { userOf } from '../../access/actor.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { insertPlay, type ScheduleRow } from './queries.ts'

/** One run of a schedule: `at` is when it was due by the clock, or the number of the play by hand. */
export const scheduledRun = {
  name: 'schedules.run',
  payload: z.object({
    schedule_id: z.int(),
    user_id: z.int().nullable(),
    by: z.enum(['clock', 'hand']),
    at: z.string(),
  }),
}

/** Runs a schedule once more, as the caller. */
export async function playSchedule(ctx: Ctx, row: ScheduleRow): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const at = String(await insertPlay(ctx.db, row.id))
    const user_id = userOf(ctx.actor)?.id ?? null
    await ctx.work.enqueue(ctx.db, scheduledRun, { schedule_id: row.id, user_id, by: 'hand', at })
  })
}
