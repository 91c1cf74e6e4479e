import type { Ctx } from '../ctx.ts'
import type { Schedule } from '../work/schedule.ts'
import type { AnyTask } from '../work/task.ts'

/** Every background task that the runner may find in the table. */
export const tasks: readonly AnyTask<Ctx>[] = []

/** What comes round by the clock. */
export const schedules: readonly Schedule[] = []
