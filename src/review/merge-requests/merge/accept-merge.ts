import { userOf } from '../../../access/actor.ts'
import type { Project } from '../../../access/subjects.ts'
import { methodNotAllowed } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import type { DetailedMergeStatus } from '../detailed-merge-status.ts'
import { refreshMergeRequest } from '../diff/refresh.ts'
import { statusOf } from '../facts.ts'
import { reload } from '../find.ts'
import type { MergeRequestRow } from '../row.ts'
import { type MergeOptions, setAutoMerge } from './auto-merge.ts'
import { checkMergeability } from './check.ts'
import { assertHead, mergeNow } from './merge.ts'
import { cannotBeMerged } from './merge-objects.ts'

/** What keeps a merge from ever being possible, so that there is nothing to wait for. */
const never: readonly DetailedMergeStatus[] = ['not_open', 'commits_status', 'ci_must_pass']
const impossible: readonly DetailedMergeStatus[] = ['conflict', 'need_rebase']

/**
 * Merges now, or with `wait` as soon as nothing stands in the way (docs/contract/D §1.10 Merge): 405 when something forbids it, 422 when it can't be done, 409 when the head is another one.
 */
export async function acceptMerge(
  ctx: Ctx,
  project: Project,
  given: MergeRequestRow,
  options: MergeOptions,
  wait: boolean,
): Promise<MergeRequestRow> {
  const row = await upToDate(ctx, given)
  const status = await statusOf(ctx, row, wait)
  if (impossible.includes(status)) throw cannotBeMerged()
  const mayWait = wait && !never.includes(status)
  if (status !== 'mergeable' && !mayWait) throw methodNotAllowed()
  assertHead(row.head_sha, options.sha)
  if (status === 'mergeable') return mergeNow(ctx, project, row.id, options)
  await setAutoMerge(ctx, project, row, options)
  return reload(ctx, row.id)
}

/** Does at once what tasks would do in a moment: nobody who merges should have to wait for a check. */
async function upToDate(ctx: Ctx, row: MergeRequestRow): Promise<MergeRequestRow> {
  if (row.state !== 'opened') return row
  if (row.prepared_at === null || row.approvals_syncing === 1) {
    const userId = userOf(ctx.actor)?.id ?? null
    await refreshMergeRequest(ctx, row.id, { userId, anew: false })
  }
  const known = row.merge_status === 'can_be_merged' || row.merge_status === 'cannot_be_merged'
  if (!known) await checkMergeability(ctx, row.id)
  return reload(ctx, row.id)
}
