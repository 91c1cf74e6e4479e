import { z } from 'zod'
import { task } from '../../background/task.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { deleteUnusedEntries } from './entry-queries.ts'
import { listDuePolicies, updatePolicy } from './queries.ts'

const DAY_MS = 86_400_000
const AT_ONCE = 500

/** Carries out the policies that are due: what nobody has downloaded for long is forgotten. */
export const cleanVirtualCaches = task({
  name: 'packages.clean_virtual_caches',
  payload: z.object({}),
  lane: 'slow',
  async handler(ctx: Ctx, _payload, signal) {
    const now = ctx.now()
    for (const policy of await listDuePolicies(ctx.db, now)) {
      const before = later(now, -policy.keep_n_days_after_download * DAY_MS)
      while ((await deleteUnusedEntries(ctx.db, policy.group_id, before, AT_ONCE)) > 0) {
        signal.throwIfAborted()
      }
      const next_run_at = later(now, policy.cadence * DAY_MS)
      await updatePolicy(ctx.db, policy.group_id, { last_run_at: now, next_run_at }, now)
    }
  },
})
