import { z } from 'zod'
import { postponeWhileHeld } from '../../background/postponed.ts'
import { task } from '../../background/task.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { extendGraph, maintainRepository } from '../../git/maintenance/maintenance.ts'
import { listRefs } from '../../git/refs/refs.ts'
import { inTransaction } from '../../store/transaction.ts'

// Pushes come in bursts, and their clients want the processor first: one look for all of them.
const graphRestMs = 2000
const filesRestMs = 60_000

/** Adds new commits to the commit-graph. */
export const extendCommitGraph = task({
  name: 'refs.extend_graph',
  payload: z.object({ project_id: z.number().int() }),
  attempts: 3,
  async handler(ctx: Ctx, { project_id }, signal) {
    if (!(await ctx.git.exists(project_id))) return
    const repo = ctx.git.open(project_id)
    const branches = await listRefs(repo, { prefix: 'refs/heads/' }, signal)
    const tips = new Set(branches.map((branch) => branch.id))
    await extendGraph(repo, [...tips], signal)
  },
})

/** Keeps a repository fast to read: packs, packed refs, layers of the commit-graph. */
export const upkeep = task({
  name: 'refs.upkeep',
  payload: z.object({ project_id: z.number().int() }),
  attempts: 3,
  async handler(ctx: Ctx, { project_id }, signal) {
    if (!ctx.settings.get('housekeeping_enabled')) return
    if (!(await ctx.git.exists(project_id))) return
    postponeWhileHeld(ctx.git.deletions)
    await maintainRepository(ctx.git.open(project_id), { now: ctx.now(), signal })
  },
})

/** Has the repository of a push looked after when things are quiet. */
export async function enqueueUpkeep(ctx: Ctx, projectId: number): Promise<void> {
  const payload = { project_id: projectId }
  const uniqueKey = String(projectId)
  await inTransaction(ctx, async (ctx) => {
    const when = (restMs: number) => ({ uniqueKey, runAt: later(ctx.now(), restMs) })
    await ctx.work.enqueue(ctx.db, extendCommitGraph, payload, when(graphRestMs))
    await ctx.work.enqueue(ctx.db, upkeep, payload, when(filesRestMs))
  })
}
