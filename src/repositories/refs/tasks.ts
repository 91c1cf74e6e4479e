import { z } from 'zod'
import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import { applyTogether, applyWaiting } from './apply-effects.ts'

/** What follows from the pushes to a project and may take longer than their clients should wait. */
export const afterPushes = task({
  name: 'refs.after_pushes',
  payload: z.object({ project_id: z.number().int() }),
  handler: (ctx: Ctx, { project_id }, signal) => applyWaiting(ctx, project_id, afterPush, signal),
})

/** The same for one push by itself: one that failed among others, so that it holds up none. */
export const afterPush = task({
  name: 'refs.after_push',
  payload: z.object({ push_id: z.number().int() }),
  handler: (ctx: Ctx, { push_id }) => applyTogether(ctx, [push_id]),
})
