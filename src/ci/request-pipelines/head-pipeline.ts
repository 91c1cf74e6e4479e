import type { Ctx } from '../../ctx.ts'
import type { HeadPipeline } from '../../review/effects.ts'
import { describePipeline } from '../pipelines/describe-pipeline.ts'
import { findPipeline } from '../pipelines/queries.ts'

/** Tells all of the pipeline of a merge request's head, for those who see it in short. */
export async function tellHeadPipeline(
  ctx: Ctx,
  { project, pipelineId, tell }: HeadPipeline,
): Promise<void> {
  const row = await findPipeline(ctx.db, pipelineId)
  if (row) tell(await describePipeline(ctx, project, row))
}
