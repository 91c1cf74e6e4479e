import { z } from 'zod'
import { postponeWhileHeld } from '../../background/postponed.ts'
import { task } from '../../background/task.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { inspectRepository, maintainRepository } from '../../git/maintenance/maintenance.ts'
import { findRowById, saveSize } from './queries.ts'

const payload = z.object({ repository_id: z.int() })

/** Measures a wiki or snippet after a push. */
export const measureWikiOrSnippet = task({
  name: 'wikis_and_snippets.measure',
  payload,
  attempts: 3,
  async handler(ctx: Ctx, { repository_id: id }) {
    const row = await findRowById(ctx.db, id)
    if (!row || !(await ctx.git.exists(row.name))) return
    const { size } = await inspectRepository(ctx.git.open(row.name))
    await saveSize(ctx.db, id, size)
  },
})

/** Keeps it fast to read, as the code of projects. */
export const tidyWikiOrSnippet = task({
  name: 'wikis_and_snippets.tidy',
  payload,
  attempts: 3,
  async handler(ctx: Ctx, { repository_id: id }, signal) {
    if (!ctx.settings.get('housekeeping_enabled')) return
    const row = await findRowById(ctx.db, id)
    if (!row || !(await ctx.git.exists(row.name))) return
    postponeWhileHeld(ctx.git.deletions)
    await maintainRepository(ctx.git.open(row.name), { now: ctx.now(), signal })
  },
})

const restMs = 60_000

/** Has a repository looked after, in the transaction that records its move. */
export async function enqueueWikiOrSnippetUpkeep(ctx: Ctx, id: number): Promise<void> {
  const uniqueKey = String(id)
  const runAt = later(ctx.now(), restMs)
  await ctx.work.enqueue(ctx.db, measureWikiOrSnippet, { repository_id: id }, { uniqueKey })
  await ctx.work.enqueue(ctx.db, tidyWikiOrSnippet, { repository_id: id }, { uniqueKey, runAt })
}
