import { dayOf } from '../../../base/clock.ts'
import type { Config } from '../../../base/config.ts'
import type { Ctx } from '../../../ctx.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { addFetches } from './queries.ts'

/** How long counts are gathered, so that a hundred clones at once are one write. */
const GATHER_MS = 1000

/** Fetches of a server that are not written yet, by project. */
const gathered = new WeakMap<Config, Map<number, number>>()

/**
 * Counts one clone or fetch of a project, soon: the client does not wait for it. What a crash loses is the count of a
 * second.
 */
export function countFetch(ctx: Ctx, projectId: number): void {
  const known = gathered.get(ctx.config)
  if (known) {
    known.set(projectId, (known.get(projectId) ?? 0) + 1)
    return
  }
  const counts = new Map([[projectId, 1]])
  gathered.set(ctx.config, counts)
  setTimeout(() => {
    gathered.delete(ctx.config)
    write(ctx, counts).catch((error) => ctx.log.warn('fetches were not counted', { error }))
  }, GATHER_MS).unref()
}

async function write(ctx: Ctx, counts: ReadonlyMap<number, number>): Promise<void> {
  const day = dayOf(ctx.now())
  await inTransaction(ctx, async ({ db }) => {
    for (const [id, count] of counts) await addFetches(db, id, day, count)
  })
}
