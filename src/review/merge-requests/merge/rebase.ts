import { actAs } from '../../../access/act-as.ts'
import { findProjectWithRole } from '../../../access/subjects.ts'
import { conflict, forbidden, Problem } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { GitError } from '../../../git/error.ts'
import { rebase } from '../../../git/merge/merge.ts'
import { fetchObjects } from '../../../git/transfer/fetch-objects.ts'
import { callerId } from '../../../identity/users/find-user.ts'
import { shareFetchedObjects } from '../../../repositories/lfs/objects.ts'
import { mayPushBranch } from '../../../repositories/refs/check-rules.ts'
import { moveRefs } from '../../../repositories/refs/move-refs.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { branchHead } from '../branch-heads.ts'
import { rebaseJob } from '../jobs.ts'
import { findById, updateMergeRequest } from '../queries.ts'
import type { MergeRequestRow } from '../row.ts'
import { committerOf, signerOf } from './merge-facts.ts'

const conflictText = 'Rebase failed: Rebase locally, resolve all conflicts, then push the branch.'

/**
 * Has a task move the source branch onto the target, without a pipeline of the branch where `skipCi` says so; 403 without
 * the right to push there, 409 when it can't begin.
 */
export async function enqueueRebase(
  ctx: Ctx,
  row: MergeRequestRow,
  skipCi?: boolean,
): Promise<void> {
  const user_id = callerId(ctx)
  const source = await findProjectWithRole(ctx, row.source_project_id)
  if (!source || !(await mayPushBranch(ctx, source, row.source_branch))) {
    throw forbidden('Cannot push to source branch')
  }
  if ((await branchHead(ctx, source.id, row.source_branch)) === undefined) {
    throw forbidden('Source branch does not exist')
  }
  await inTransaction(ctx, async (ctx) => {
    const now = await findById(ctx.db, row.id)
    if (now?.state !== 'opened' || now.rebase_in_progress === 1) {
      throw conflict(
        'Failed to enqueue the rebase operation, possibly due to a long-lived transaction. Try again later.',
      )
    }
    await updateMergeRequest(ctx.db, row.id, { rebase_in_progress: true, merge_error: null })
    await ctx.work.enqueue(ctx.db, rebaseJob, { id: row.id, user_id, skip_ci: skipCi })
  })
}

/** Who asked for a rebase, and whether its push starts no pipeline. */
interface AskedRebase {
  readonly userId: number
  readonly skipCi: boolean | undefined
}

/** The task: writes the commits anew and moves the source branch; what goes wrong stands in `merge_error`. */
export async function runRebase(
  given: Ctx,
  id: number,
  asked: AskedRebase,
  signal?: AbortSignal,
): Promise<void> {
  const ctx = await actAs(given, asked.userId)
  const row = await findById(ctx.db, id)
  if (row?.state !== 'opened' || row.rebase_in_progress === 0) return
  let failure: string | null = conflictText
  try {
    failure = await rebaseSource(ctx, row, asked, signal)
  } catch (error) {
    if (!(error instanceof GitError || error instanceof Problem)) throw error
    ctx.log.warn('rebase failed', { error, merge_request: id })
  }
  await updateMergeRequest(ctx.db, id, { rebase_in_progress: false, merge_error: failure })
}

/** Ends the wait for a rebase that the server could not do. */
export async function giveUpRebase(ctx: Ctx, id: number, reason: string): Promise<void> {
  const failure = `Rebase failed: the server could not finish it: ${reason}`.slice(0, 1000)
  await updateMergeRequest(ctx.db, id, { rebase_in_progress: false, merge_error: failure })
}

/** Null when all went well, else why not. */
async function rebaseSource(
  ctx: Ctx,
  row: MergeRequestRow,
  { userId, skipCi }: AskedRebase,
  signal?: AbortSignal,
): Promise<string | null> {
  const source = await findProjectWithRole(ctx, row.source_project_id)
  const person = await committerOf(ctx, userId)
  const onto = await branchHead(ctx, row.target_project_id, row.target_branch)
  const head = source && (await branchHead(ctx, source.id, row.source_branch))
  if (!source || !person || onto === undefined || head === undefined) return conflictText
  const repo = ctx.git.open(source.id)
  if (source.id !== row.target_project_id) {
    await fetchObjects(repo, ctx.git.open(row.target_project_id), `refs/heads/${row.target_branch}`)
    await shareFetchedObjects(ctx, row.target_project_id, source.id, onto, signal)
  }
  const rebased = await rebase(repo, { head, onto, committer: signerOf(ctx, person) }, signal)
  if (rebased.outcome === 'conflict') return conflictText
  if (rebased.head === head) return null
  const move = { name: `refs/heads/${row.source_branch}`, oldId: head, newId: rebased.head }
  await moveRefs(ctx, source, { via: 'api', moves: [move], options: skipCi ? ['ci.skip'] : [] })
  return null
}
