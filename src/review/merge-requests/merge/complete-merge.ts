import { actAs } from '../../../access/act-as.ts'
import type { Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import type { Via } from '../../../store/schema/refs.ts'
import { editMergeRequest } from '../change/edit.ts'
import { afterMergeJob } from '../jobs.ts'
import { closeIssuesOf } from '../links/close-issues.ts'
import { findById, updateMergeRequest } from '../queries.ts'
import { feedChange, noteChange } from '../record.ts'
import type { MergeRequestRow } from '../row.ts'
import { targetProject } from '../target-project.ts'
import { deleteIntent, findIntent } from './intent-queries.ts'

/** What a merge left behind. */
export interface MergeResult {
  readonly userId: number | null
  readonly headSha: string
  readonly mergeCommitSha: string | null
  readonly squashCommitSha: string | null
  /** Where the target stands now. */
  readonly mergedSha: string
  readonly removeSourceBranch: boolean
}

interface ClosedPush {
  readonly pushId: number
  readonly via: Via
}

/**
 * Makes the merge true in the database, in the transaction that closes the move of the target branch: whether the move
 * ended in this request or was found after a crash, the state and everything that follows come with it.
 */
export async function completeMergeOf(ctx: Ctx, { pushId, via }: ClosedPush): Promise<void> {
  if (via !== 'merge') return
  const intent = await findIntent(ctx.db, pushId)
  if (!intent) return
  await deleteIntent(ctx.db, pushId)
  const row = await findById(ctx.db, intent.merge_request_id)
  if (!row || row.state === 'merged') return
  await completeMerge(ctx, row, {
    userId: intent.user_id,
    headSha: intent.head_sha,
    mergeCommitSha: intent.merge_commit_sha,
    squashCommitSha: intent.squash_commit_sha,
    mergedSha: intent.merged_sha,
    removeSourceBranch: intent.remove_source_branch === 1,
  })
}

/** A merge that came to nothing: its branch did not move. */
export async function dropMergeOf(ctx: Ctx, { pushId, via }: ClosedPush): Promise<void> {
  if (via !== 'merge') return
  await deleteIntent(ctx.db, pushId)
}

/** Everything that follows from a merge and needs no git, in the caller's transaction (docs/contract/D §1.10 Merge). */
export async function completeMerge(
  given: Ctx,
  row: MergeRequestRow,
  result: MergeResult,
): Promise<void> {
  const ctx = await actAs(given, result.userId)
  const project = await targetProject(ctx, row)
  if (!project) return
  const now = ctx.now()
  const merged = {
    state: 'merged',
    merge_status: 'can_be_merged',
    prepared_at: row.prepared_at ?? now,
    head_sha: result.headSha,
    merge_commit_sha: result.mergeCommitSha,
    squash_commit_sha: result.squashCommitSha,
    merged_sha: result.mergedSha,
    merge_user_id: result.userId,
    merged_at: now,
    merge_error: null,
    auto_merge_sha: null,
    auto_merge_options: null,
    rebase_in_progress: false,
    approvals_syncing: false,
    updated_at: now,
  } as const
  await editMergeRequest(ctx, project, row, 'merge', (ctx) =>
    updateMergeRequest(ctx.db, row.id, merged),
  )
  await recordMerge(ctx, project, row)
  await ctx.work.enqueue(ctx.db, afterMergeJob, {
    id: row.id,
    user_id: result.userId,
    remove_source_branch: result.removeSourceBranch,
  })
}

async function recordMerge(ctx: Ctx, project: Project, row: MergeRequestRow): Promise<void> {
  await noteChange(ctx, project, row, 'merged', 'merged')
  await feedChange(ctx, row, 'accepted')
  await closeIssuesOf(ctx, row)
}
