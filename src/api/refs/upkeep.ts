import { z } from 'zod'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { extendGraph, maintainRepository } from '../../git/maintenance.ts'
import { task } from '../../work/task.ts'
import type { SettledPush } from './after-move.ts'
import { branchOf, isDeletion } from './moves.ts'

// Pushes come in bursts: one look at the files for all of them.
const restMs = 30_000

/** Keeps a repository fast to read: packs, packed refs, layers of the commit-graph. */
export const upkeep = task({
  name: 'refs.upkeep',
  payload: z.object({ project_id: z.number().int() }),
  attempts: 3,
  async handler(ctx: Ctx, { project_id }, signal) {
    if (!(await ctx.git.exists(project_id))) return
    await maintainRepository(ctx.git.open(project_id), { now: ctx.now(), signal })
  },
})

/** Adds what a push brought to the commit-graph, and has the rest looked at when things are quiet. */
export async function keepFast(ctx: Ctx, push: SettledPush): Promise<void> {
  if (!(await ctx.git.exists(push.projectId))) return
  const tips = push.moves.filter((move) => branchOf(move.name) !== undefined && !isDeletion(move))
  const repo = ctx.git.open(push.projectId)
  await extendGraph(
    repo,
    tips.map((move) => move.newId),
  )
  const when = { uniqueKey: String(push.projectId), runAt: later(ctx.now(), restMs) }
  await ctx.work.enqueue(ctx.db, upkeep, { project_id: push.projectId }, when)
}
