import { z } from 'zod'
import { type Instant, later } from '../base/clock.ts'
import type { Db } from '../store/schema.ts'
import { deleteDeadTasks } from './queries.ts'
import { task } from './task.ts'

const KEPT_MS = 30 * 86_400_000

/** Every day: forgets the tasks that failed for good a month ago. */
export const forgetDeadTasks = task({
  name: 'background.forget_dead',
  payload: z.object({}),
  handler: (ctx: { readonly db: Db; now(): Instant }) =>
    deleteDeadTasks(ctx.db, later(ctx.now(), -KEPT_MS)),
})
