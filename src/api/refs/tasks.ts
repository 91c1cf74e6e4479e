import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { task } from '../../work/task.ts'
import { applyEffects } from './after-move.ts'

/** What follows from a push and may take longer than its client should wait. */
export const afterPush = task({
  name: 'refs.after_push',
  payload: z.object({ push_id: z.number().int() }),
  handler: (ctx: Ctx, { push_id }) => applyEffects(ctx, push_id),
})
