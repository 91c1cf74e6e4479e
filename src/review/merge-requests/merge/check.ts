import type { Ctx } from '../../../ctx.ts'
import { GitError } from '../../../git/error.ts'
import { countAheadBehind } from '../../../git/history/merge-base.ts'
import { checkMerge } from '../../../git/merge/merge.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { branchHead, bringHead } from '../branch-heads.ts'
import { isChecking } from '../detailed-merge-status.ts'
import { findById, updateMergeRequest } from '../queries.ts'
import type { MergeRequestRow } from '../row.ts'
import { remindOfConflict } from './reminders.ts'

/** What the trial merge of the two heads came to. */
interface Outcome {
  readonly clean: boolean
  readonly ahead: number | null
  readonly behind: number | null
}

/**
 * Merges the two heads in memory and notes how that went (docs/contract/D §1.10 Preparation). A result for heads that have moved
 * meanwhile is thrown away: the move has made a new check due.
 */
export async function checkMergeability(ctx: Ctx, id: number, signal?: AbortSignal): Promise<void> {
  const row = await beginCheck(ctx, id)
  if (!row) return
  const target = await branchHead(ctx, row.target_project_id, row.target_branch)
  const source = await bringHead(ctx, row)
  const outcome = await tryMerge(ctx, row, target, source, signal)
  await inTransaction(ctx, async (ctx) => {
    const now = await findById(ctx.db, id)
    if (now?.state !== 'opened' || !isChecking(now.merge_status)) return
    await updateMergeRequest(ctx.db, id, {
      merge_status: outcome.clean ? 'can_be_merged' : 'cannot_be_merged',
      checked_source: source ?? null,
      checked_target: target ?? null,
      commits_ahead: outcome.ahead,
      commits_behind: outcome.behind,
      source_branch_exists: source !== undefined,
    })
    const conflicts = !outcome.clean && Boolean(outcome.ahead)
    // Those who know of a conflict are not reminded again while it lasts.
    if (!conflicts || now.merge_status === 'checking') await remindOfConflict(ctx, now, conflicts)
  })
}

/** Marks the check as running, so that whatever moves a branch meanwhile is noticed. */
async function beginCheck(ctx: Ctx, id: number): Promise<MergeRequestRow | undefined> {
  return inTransaction(ctx, async (ctx) => {
    const row = await findById(ctx.db, id)
    if (row?.state !== 'opened' || row.merge_status === 'preparing') return undefined
    const conflicted = row.merge_status.startsWith('cannot_be_merged')
    const merge_status = conflicted ? 'cannot_be_merged_rechecking' : 'checking'
    await updateMergeRequest(ctx.db, id, { merge_status })
    return row
  })
}

/** Lets the next reader have a check made that the server could not do. */
export async function giveUpCheck(ctx: Ctx, id: number): Promise<void> {
  const row = await findById(ctx.db, id)
  if (!row || !isChecking(row.merge_status)) return
  const merge_status = row.merge_status === 'checking' ? 'unchecked' : 'cannot_be_merged_recheck'
  await updateMergeRequest(ctx.db, id, { merge_status })
}

async function tryMerge(
  ctx: Ctx,
  row: MergeRequestRow,
  target: string | undefined,
  source: string | undefined,
  signal?: AbortSignal,
): Promise<Outcome> {
  if (source === undefined || target === undefined) {
    return { clean: false, ahead: null, behind: null }
  }
  const repo = ctx.git.open(row.target_project_id)
  const [counted] = await countAheadBehind(repo, target, [source], signal)
  const { ahead, behind } = counted ?? { ahead: 0, behind: 0 }
  if (ahead === 0) return { clean: false, ahead, behind }
  // What is only ahead can't be in anybody's way.
  if (behind === 0) return { clean: true, ahead, behind }
  try {
    const merged = await checkMerge(repo, { ours: target, theirs: source }, signal)
    return { clean: merged.outcome === 'clean', ahead, behind }
  } catch (error) {
    // Histories without a common commit can't be merged; anything else is tried again.
    if (error instanceof GitError && error.code === 'invalid') {
      return { clean: false, ahead, behind }
    }
    throw error
  }
}
