import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { keepUp } from '../../git/upkeep.ts'
import { task } from '../../work/task.ts'
import type { SettledPush } from './after-move.ts'

/** Keeps a repository fast to read: commit-graph, packs, packed refs. */
export const upkeep = task({
  name: 'refs.upkeep',
  payload: z.object({ project_id: z.number().int() }),
  attempts: 3,
  async handler(ctx: Ctx, { project_id }, signal) {
    if (await ctx.git.exists(project_id)) await keepUp(ctx.git.open(project_id), signal)
  },
})

/** One upkeep for all pushes that wait for it. */
export async function enqueueUpkeep(ctx: Ctx, push: SettledPush): Promise<void> {
  const uniqueKey = String(push.projectId)
  await ctx.work.enqueue(ctx.db, upkeep, { project_id: push.projectId }, { uniqueKey })
}
