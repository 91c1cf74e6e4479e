import { actAs } from '../../../access/act-as.ts'
import { findProjectWithRole, type Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import type { Via } from '../../../store/schema/refs.ts'
import type { RowOf } from '../../../store/schema.ts'
import { editMergeRequest } from '../change/edit.ts'
import { afterMergeJob } from '../jobs.ts'
import { closeIssuesOf } from '../links/close-issues.ts'
import { findById, updateMergeRequest } from '../queries.ts'
import { feedChange, noteChange } from '../record.ts'
import type { MergeRequestRow } from '../row.ts'
import { deleteIntent, findIntent } from './intent-queries.ts'

/** What a merge left behind. */
type MergeResult = Omit<RowOf<'merge_intents'>, 'push_id' | 'merge_request_id'>

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
  await completeMerge(ctx, row, intent)
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
  const ctx = await actAs(given, result.user_id)
  const project = await findProjectWithRole(ctx, row.target_project_id)
  if (!project) return
  const now = ctx.now()
  const merged = {
    state: 'merged',
    merge_status: 'can_be_merged',
    prepared_at: row.prepared_at ?? now,
    head_sha: result.head_sha,
    merge_commit_sha: result.merge_commit_sha,
    squash_commit_sha: result.squash_commit_sha,
    merged_sha: result.merged_sha,
    merge_user_id: result.user_id,
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
    user_id: result.user_id,
    remove_source_branch: result.remove_source_branch === 1,
  })
}

async function recordMerge(ctx: Ctx, project: Project, row: MergeRequestRow): Promise<void> {
  await noteChange(ctx, project, row, 'merged', 'merged')
  await feedChange(ctx, row, 'accepted')
  await closeIssuesOf(ctx, row)
}
