import type { Ctx } from '../../ctx.ts'
import { removeOwnRef } from '../../repositories/refs/own-refs.ts'
import { inTransaction } from '../../store/transaction.ts'
import { headRef, trialRef } from './branch-heads.ts'
import { deleteMergeRequest } from './queries.ts'
import type { MergeRequestRow } from './row.ts'

/** Deletes a merge request with all that hangs on it, and the refs that kept its commits. */
export async function removeMergeRequest(ctx: Ctx, row: MergeRequestRow): Promise<void> {
  await inTransaction(ctx, (ctx) => deleteMergeRequest(ctx.db, row.id))
  const repo = ctx.git.open(row.target_project_id)
  await removeOwnRef(repo, headRef(row))
  await removeOwnRef(repo, trialRef(row))
}
