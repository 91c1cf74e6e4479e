import { mayInProject } from '../../access/decide.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { type PipelineBasic, presentPipelineBasic } from './pipeline-entity.ts'
import { findNewestPipeline } from './pipeline-queries.ts'

/** The newest pipeline of a commit, or null: none, or not for the caller's eyes. */
export async function lastPipeline(
  ctx: Ctx,
  project: Project,
  sha: string,
): Promise<PipelineBasic | null> {
  if (!mayInProject(ctx.actor, project, 'read_builds')) return null
  const row = await findNewestPipeline(ctx.db, project.id, sha)
  return row ? presentPipelineBasic(ctx, project, row) : null
}
