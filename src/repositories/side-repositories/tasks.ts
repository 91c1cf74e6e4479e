import { z } from 'zod'
import { task } from '../../background/task.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { inspectRepository, maintainRepository } from '../../git/maintenance/maintenance.ts'
import { findSideRowById, saveSideSize } from './queries.ts'

const payload = z.object({ repository_id: z.int() })

/** Measures a wiki or snippet after a push. */
export const measureSide = task({
  name: 'side_repositories.measure',
  payload,
  attempts: 3,
  async handler(ctx: Ctx, { repository_id: id }) {
    const side = await findSideRowById(ctx.db, id)
    if (!side || !(await ctx.git.exists(side.name))) return
    const { size } = await inspectRepository(ctx.git.open(side.name))
    await saveSideSize(ctx.db, id, size)
  },
})

/** Keeps it fast to read, as the code of projects. */
export const tidySide = task({
  name: 'side_repositories.tidy',
  payload,
  attempts: 3,
  async handler(ctx: Ctx, { repository_id: id }, signal) {
    const side = await findSideRowById(ctx.db, id)
    if (!side || !(await ctx.git.exists(side.name))) return
    await maintainRepository(ctx.git.open(side.name), { now: ctx.now(), signal })
  },
})

const restMs = 60_000

/** Has a repository looked after, in the transaction that records its move. */
export async function enqueueSideUpkeep(ctx: Ctx, id: number): Promise<void> {
  const uniqueKey = String(id)
  const runAt = later(ctx.now(), restMs)
  await ctx.work.enqueue(ctx.db, measureSide, { repository_id: id }, { uniqueKey })
  await ctx.work.enqueue(ctx.db, tidySide, { repository_id: id }, { uniqueKey, runAt })
}
