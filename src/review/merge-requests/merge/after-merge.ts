import { actAs } from '../../../access/act-as.ts'
import { findProjectWithRole } from '../../../access/subjects.ts'
import { Problem } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { GitError } from '../../../git/error.ts'
import { noObject } from '../../../git/types.ts'
import { branchStates } from '../../../repositories/refs/branch-state.ts'
import { moveRefs } from '../../../repositories/refs/move-refs.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { branchHead } from '../branch-heads.ts'
import { retarget } from '../change/retarget.ts'
import { findById, listOpenAt } from '../queries.ts'
import type { MergeRequestRow } from '../row.ts'

/** What follows from a merge and takes git: the source branch goes, if it was to and nothing forbids it. */
export async function afterMerge(
  given: Ctx,
  cause: {
    readonly id: number
    readonly user_id: number | null
    readonly remove_source_branch: boolean
  },
): Promise<void> {
  const ctx = await actAs(given, cause.user_id)
  const row = await findById(ctx.db, cause.id)
  if (row?.state !== 'merged' || !cause.remove_source_branch) return
  if (await maySourceGo(ctx, row)) await removeSource(ctx, row)
}

/** Neither protected nor default, still at the merged head, and the merger may push there (docs/contract/D §1.10 Merge). */
async function maySourceGo(ctx: Ctx, row: MergeRequestRow): Promise<boolean> {
  const source = await findProjectWithRole(ctx, row.source_project_id)
  if (!source || row.head_sha === null || source.default_branch === row.source_branch) return false
  const head = await branchHead(ctx, source.id, row.source_branch)
  if (head !== row.head_sha) return false
  const stateOf = await branchStates(ctx, source)
  const state = stateOf(row.source_branch)
  return !state.protected && state.can_push
}

async function removeSource(ctx: Ctx, row: MergeRequestRow): Promise<void> {
  const source = await findProjectWithRole(ctx, row.source_project_id)
  if (!source || row.head_sha === null) return
  await retargetOthers(ctx, row)
  const move = { name: `refs/heads/${row.source_branch}`, oldId: row.head_sha, newId: noObject }
  try {
    await moveRefs(ctx, source, { via: 'api', moves: [move] })
  } catch (error) {
    // Somebody was faster, or a rule has changed meanwhile: the branch stays.
    if (!(error instanceof GitError || error instanceof Problem)) throw error
    ctx.log.warn('source branch not removed', { error, merge_request: row.id })
  }
}

/** Merge requests into the branch that goes want to go where it went (docs/contract/D §1.10 Merge). */
async function retargetOthers(ctx: Ctx, row: MergeRequestRow): Promise<void> {
  if (row.source_project_id !== row.target_project_id) return
  const others = await listOpenAt(ctx.db, 'target', row.target_project_id, row.source_branch)
  for (const other of others) {
    await inTransaction(ctx, async (ctx) => {
      const project = await findProjectWithRole(ctx, other.target_project_id)
      const now = await findById(ctx.db, other.id)
      if (project && now?.state === 'opened' && now.source_branch !== row.target_branch) {
        await retarget(ctx, project, now, row.target_branch)
      }
    })
  }
}
