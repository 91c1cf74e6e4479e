import { z } from 'zod'
import { actAs } from '../../access/act-as.ts'
import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import { findLastDeployment, listStopDue } from '../environments/queries.ts'
import { stopInTime } from './stop-environment.ts'

/** Stops environments whose time is over, as whoever deployed to them last. */
export const stopDueEnvironments = task({
  name: 'environments.stop_due',
  payload: z.object({}),
  async handler(ctx: Ctx) {
    for (const row of await listStopDue(ctx.db, ctx.now())) {
      const last = await findLastDeployment(ctx.db, row.id, 'success')
      await stopInTime(await actAs(ctx, last?.user_id ?? null), row)
    }
  },
})
