import { z } from 'zod'
import { actAs } from '../../../access/act-as.ts'
import { userOf } from '../../../access/actor.ts'
import { findProjectWithRole } from '../../../access/subjects.ts'
import { Problem } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { mayMergeBranch } from '../../../repositories/refs/check-rules.ts'
import { inTransaction } from '../../../store/transaction.ts'
import {
  type DetailedMergeStatus,
  detailedMergeStatus,
  statusBesidePeople,
} from '../detailed-merge-status.ts'
import { mergeFacts } from '../facts.ts'
import { findById, listAutoMergeIds } from '../queries.ts'
import { cancelAutoMerge } from './auto-merge.ts'
import { mergeNow } from './merge.ts'

const storedOptions = z.object({
  mergeMessage: z.string().optional(),
  squashMessage: z.string().optional(),
  squash: z.boolean().optional(),
  removeSourceBranch: z.boolean().optional(),
})

/** What no waiting mends. */
const hopeless: Partial<Record<DetailedMergeStatus, string>> = {
  conflict: 'the source branch conflicts with the target branch',
  need_rebase: 'the target branch was updated and the source branch must be rebased',
  ci_must_pass: 'the pipeline did not succeed',
  not_open: 'the merge request is not open',
  commits_status: 'there is nothing to merge',
}

/** Merges for whoever set auto-merge, when the time has come; gives up when it never will (docs/contract/D §1.10 Merge). */
export async function autoMergeIfReady(given: Ctx, id: number): Promise<void> {
  const row = await findById(given.db, id)
  if (!row || row.auto_merge_sha === null) return
  const ctx = await actAs(given, row.merge_user_id)
  const project = await findProjectWithRole(ctx, row.target_project_id)
  if (!project) return
  const giveUp = (because: string) =>
    inTransaction(ctx, async (ctx) => {
      await cancelAutoMerge(ctx, project, row, because)
    })
  if (row.head_sha !== row.auto_merge_sha)
    return void (await giveUp('the source branch was updated'))
  if (!userOf(ctx.actor) || !(await mayMergeBranch(ctx, project, row.target_branch))) {
    return void (await giveUp('the user who set it may no longer merge'))
  }
  const facts = await mergeFacts(ctx, row)
  const status = detailedMergeStatus(facts)
  // A draft, or a missing approval, must not hide that the wait for it is in vain.
  const reason = hopeless[status] ?? hopeless[statusBesidePeople(facts)]
  if (reason) return void (await giveUp(reason))
  if (status !== 'mergeable') return
  const options = storedOptions.parse(JSON.parse(row.auto_merge_options ?? '{}'))
  try {
    await mergeNow(ctx, project, id, { ...options, sha: row.auto_merge_sha })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    await giveUp('the merge failed')
  }
}

/** Looks after every merge request that waits for a merge: whatever it waited for may have happened. */
export async function runAutoMerges(ctx: Ctx): Promise<void> {
  for (const id of await listAutoMergeIds(ctx.db)) await autoMergeIfReady(ctx, id)
}
