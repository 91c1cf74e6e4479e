import type { Ctx } from '../../../ctx.ts'
import { autoMergeJob } from '../jobs.ts'
import { type AwaitedPipeline, listWaitingFor } from '../pipeline-queries.ts'

/** Has auto-merges tried that wait for a pipeline which ended, or which turned out not to be made. */
export async function enqueueAutoMerges(
  ctx: Pick<Ctx, 'db' | 'work'>,
  awaited: AwaitedPipeline,
): Promise<void> {
  for (const id of await listWaitingFor(ctx.db, awaited)) {
    await ctx.work.enqueue(ctx.db, autoMergeJob, { id }, { uniqueKey: `pipeline of ${id}` })
  }
}

/** What follows from the end of a pipeline. */
export function mergeAfterPipeline(ctx: Ctx, { id }: { readonly id: number }): Promise<void> {
  return enqueueAutoMerges(ctx, { pipelineId: id })
}
