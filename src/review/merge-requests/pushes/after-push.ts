import { actAs } from '../../../access/act-as.ts'
import { findProjectWithRole } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import { completeTodos } from '../../../discussions/todos/add.ts'
import { countAheadBehind } from '../../../git/history/merge-base.ts'
import {
  branchOf,
  type FinalizedPush,
  isDeletion,
  type RefMove,
} from '../../../repositories/refs/moves.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { closeMergeRequest } from '../change/close.ts'
import { enqueueCheck, refreshJob } from '../jobs.ts'
import { completeMerge } from '../merge/complete-merge.ts'
import {
  findById,
  latestVersionsById,
  listOpenAt,
  listReviewedBranches,
  markMoved,
} from '../queries.ts'
import type { MergeRequestRow } from '../row.ts'

/**
 * Notes in the transaction that closes a move that merge requests from and into its branches are no longer checked, and
 * which head they have now: one statement for each branch, however many merge requests there are.
 */
export async function branchesMoved(
  ctx: Ctx,
  { projectId, moves }: { readonly projectId: number; readonly moves: readonly RefMove[] },
): Promise<void> {
  for (const move of moves) {
    const branch = branchOf(move.name)
    if (branch === undefined) continue
    await markMoved(ctx.db, projectId, branch, isDeletion(move) ? null : move.newId)
  }
}

/** Brings merge requests up to date with a push: the part that takes git, in the push's task; may run twice. */
export async function mergeRequestsAfterPush(given: Ctx, push: FinalizedPush): Promise<void> {
  const ctx = await actAs(given, push.userId)
  const reviewed = await listReviewedBranches(ctx.db, push.projectId)
  for (const move of push.moves) {
    const branch = branchOf(move.name)
    if (branch === undefined || !reviewed.has(branch)) continue
    if (isDeletion(move)) {
      await sourceDeleted(ctx, push.projectId, branch)
    } else {
      await sourceMoved(ctx, push, branch)
      await targetMoved(ctx, push, branch, move.newId)
    }
  }
}

/** Open merge requests of a branch that is gone are closed (docs/contract/D §1.10 Refs and pushes). */
async function sourceDeleted(ctx: Ctx, projectId: number, branch: string): Promise<void> {
  for (const row of await listOpenAt(ctx.db, 'source', projectId, branch)) {
    await inTransaction(ctx, async (ctx) => {
      const now = await findById(ctx.db, row.id)
      // The branch may have been made again meanwhile.
      if (now?.state !== 'opened' || now.source_branch_exists === 1) return
      const project = await findProjectWithRole(ctx, now.target_project_id)
      if (project) await closeMergeRequest(ctx, project, now)
    })
  }
}

async function sourceMoved(ctx: Ctx, push: FinalizedPush, branch: string): Promise<void> {
  for (const { id } of await listOpenAt(ctx.db, 'source', push.projectId, branch)) {
    await completeTodos(ctx, { type: 'MergeRequest', id })
    await ctx.work.enqueue(ctx.db, refreshJob, { id, user_id: push.userId })
  }
}

async function targetMoved(
  ctx: Ctx,
  push: FinalizedPush,
  branch: string,
  newId: string,
): Promise<void> {
  const rows = await listOpenAt(ctx.db, 'target', push.projectId, branch)
  if (rows.length === 0) return
  const merged = await findMerged(ctx, push.projectId, rows, newId)
  for (const { row, head } of merged) {
    await inTransaction(ctx, async (ctx) => {
      const now = await findById(ctx.db, row.id)
      if (now?.state !== 'opened') return
      await completeMerge(ctx, now, {
        user_id: push.userId,
        head_sha: head,
        merge_commit_sha: newId,
        squash_commit_sha: null,
        merged_sha: newId,
        remove_source_branch: 0,
      })
    })
  }
  const waiting = rows.filter((row) => row.auto_merge_sha !== null)
  for (const { id } of waiting) await enqueueCheck(ctx, id)
}

/** Merge requests whose commits a plain push has brought into their target. */
async function findMerged(
  ctx: Ctx,
  projectId: number,
  rows: readonly MergeRequestRow[],
  newId: string,
) {
  const versions = await latestVersionsById(
    ctx.db,
    rows.map((row) => row.id),
  )
  const candidates = rows.flatMap((row) => {
    const version = versions.get(row.id)
    // One without commits was in its target from the beginning.
    const real =
      version && version.head_sha === row.head_sha && version.head_sha !== version.base_sha
    return real ? [{ row, head: version.head_sha }] : []
  })
  if (candidates.length === 0) return []
  const tips = candidates.map((candidate) => candidate.head)
  const counts = await countAheadBehind(ctx.git.open(projectId), newId, tips)
  return candidates.filter((_, index) => counts[index]?.ahead === 0)
}
