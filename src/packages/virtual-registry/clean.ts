import { z } from 'zod'
import { task } from '../../background/task.ts'
import { type Instant, later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { deleteUnusedEntries } from './entry-queries.ts'
import { mailOwners } from './mail-owners.ts'
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
      const next_run_at = later(now, policy.cadence * DAY_MS)
      const times = { last_run_at: now, next_run_at }
      try {
        const removed = await carryOut(ctx, policy, now, signal)
        await inTransaction(ctx, async (inner) => {
          await updatePolicy(inner.db, policy.group_id, times, now)
          if (policy.notify_on_success === 1) await mailOwners(inner, policy.group_id, { removed })
        })
      } catch (error) {
        signal.throwIfAborted()
        ctx.log.error('a virtual registry could not be cleaned up', {
          group: policy.group_id,
          error,
        })
        // Another group's turn comes all the same; this one is tried again at its next date.
        await inTransaction(ctx, async (inner) => {
          await updatePolicy(inner.db, policy.group_id, times, now)
          if (policy.notify_on_failure === 1) await mailOwners(inner, policy.group_id, 'failed')
        })
      }
    }
  },
})

async function carryOut(
  ctx: Ctx,
  policy: { readonly group_id: number; readonly keep_n_days_after_download: number },
  now: Instant,
  signal: AbortSignal,
): Promise<number> {
  const before = later(now, -policy.keep_n_days_after_download * DAY_MS)
  let removed = 0
  for (;;) {
    const some = await deleteUnusedEntries(ctx.db, policy.group_id, before, AT_ONCE)
    if (some === 0) return removed
    removed += some
    signal.throwIfAborted()
  }
}
