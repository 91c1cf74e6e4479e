import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { HeadPipeline } from '../../review/readers.ts'
import { describePipeline } from '../pipelines/describe-pipeline.ts'
import { findPipeline } from '../pipelines/queries.ts'

/** A pipeline in full, for merge requests, which know it in short; null where it is gone. */
export async function readHeadPipeline(
  ctx: Ctx,
  project: Project,
  pipelineId: number,
): Promise<HeadPipeline | null> {
  const row = await findPipeline(ctx.db, pipelineId)
  return row ? await describePipeline(ctx, project, row) : null
}
