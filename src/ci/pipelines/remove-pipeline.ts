import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { removeOwnRef } from '../../repositories/refs/own-refs.ts'
import { inTransaction } from '../../store/transaction.ts'
import { listJobStates } from './job-queries.ts'
import { giveResources } from './process/process.ts'
import { deletePipeline, listOutlived } from './queries.ts'

/** Deletes a pipeline with its jobs, and the ref that kept its commit. */
export async function removePipeline(
  ctx: Ctx,
  row: { readonly id: number; readonly project_id: number },
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const jobs = await listJobStates(ctx.db, row.id)
    await deletePipeline(ctx.db, row.id)
    await giveResources(ctx, row, jobs)
  })
  await removeOwnRef(ctx.git.open(row.project_id), `refs/pipelines/${row.id}`)
}

const AT_ONCE = 200

/** Deletes the pipelines that are older than their projects want to keep them. */
export async function removeOutlived(ctx: Ctx): Promise<void> {
  for (const row of await listOutlived(ctx.db, ctx.now(), AT_ONCE)) {
    try {
      await removePipeline(ctx, row)
    } catch (error) {
      // Somebody has deleted it, or its project, meanwhile.
      if (!(error instanceof Problem) || error.code !== 'not_found') throw error
    }
  }
}
