import { z } from 'zod'
import { task } from '../../background/task.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { findReferenced } from '../../store/file-references.ts'

const dayMs = 86_400_000
/** Whoever stores a file names it in a row soon after; an import may take its time with it. */
const graceDays = 3
const batch = 200

/**
 * Removes stored files that nothing in the database names any more. A file that was stored, again or for the first time,
 * within the days of grace stays, and so does one that is stored again while it is being removed.
 */
export async function sweepFiles(ctx: Ctx, signal?: AbortSignal): Promise<number> {
  const before = later(ctx.now(), -graceDays * dayMs)
  let count = 0
  let names: string[] = []
  const sweep = async () => {
    const referenced = await findReferenced(ctx.db, names)
    for (const name of names) {
      if (!referenced.has(name) && (await ctx.files.deleteOlder(name, before))) count += 1
    }
    names = []
  }
  for await (const name of ctx.files.listOlder(before)) {
    signal?.throwIfAborted()
    names.push(name)
    if (names.length === batch) await sweep()
  }
  if (names.length > 0) await sweep()
  return count
}

export const sweepFilesTask = task({
  name: 'files.sweep',
  payload: z.object({}),
  async handler(ctx: Ctx, _payload, signal) {
    const count = await sweepFiles(ctx, signal)
    if (count > 0) ctx.log.info('removed files that nothing names any more', { count })
  },
})
