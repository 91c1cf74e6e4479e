import { z } from 'zod'
import { task } from '../../background/task.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { dropFiles } from '../registry/remove.ts'
import { listDuePolicies, listSurplusFiles, type PolicyRow, postponePolicy } from './queries.ts'

/** How often a policy is carried out (docs/contract/C-resolved §5). */
export const EVERY_MS = 12 * 3_600_000
const atOnce = 200

/** Carries out the cleanup policies whose time has come. */
export const runCleanupPolicies = task({
  name: 'packages.clean_up',
  payload: z.object({}),
  lane: 'slow',
  async handler(ctx: Ctx, _payload, signal) {
    for (;;) {
      const due = await listDuePolicies(ctx.db, ctx.now())
      if (due.length === 0) return
      for (const policy of due) await carryOut(ctx, policy, signal)
    }
  },
})

async function carryOut(ctx: Ctx, policy: PolicyRow, signal: AbortSignal): Promise<void> {
  const keep = Number(policy.keep_n_duplicated_package_files)
  for (let more = Number.isInteger(keep); more; ) {
    signal.throwIfAborted()
    more = await inTransaction(ctx, async (inner) => {
      const files = await listSurplusFiles(inner.db, policy.project_id, keep, atOnce)
      for (const file of files) await dropFiles(inner, file, [file])
      return files.length === atOnce
    })
  }
  await postponePolicy(ctx.db, policy, later(ctx.now(), EVERY_MS))
}
