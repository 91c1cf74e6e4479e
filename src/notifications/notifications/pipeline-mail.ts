import type { Project } from '../../access/subjects.ts'
import { findEndedBefore, type PipelineRow } from '../../ci/pipelines/queries.ts'
import type { Ctx } from '../../ctx.ts'
import { mailFollowers } from './mail-followers.ts'

/** Mails whoever ran a pipeline, and who follows the project, how it ended (docs/contract/A-resolved §13). */
export async function mailPipelineEnd(
  ctx: Ctx,
  project: Project,
  pipeline: PipelineRow,
): Promise<void> {
  const { status } = pipeline
  if (status !== 'success' && status !== 'failed') return
  const before = status === 'success' ? await findEndedBefore(ctx.db, pipeline) : undefined
  const fixed = before?.status === 'failed'
  const event =
    status === 'failed' ? 'failed_pipeline' : fixed ? 'fixed_pipeline' : 'success_pipeline'
  const words = {
    failed_pipeline: 'failed',
    fixed_pipeline: 'was fixed',
    success_pipeline: 'passed',
  }
  const author = event === 'success_pipeline' || pipeline.user_id === null ? [] : [pipeline.user_id]
  const url = `${ctx.config.externalUrl}/${project.full_path}/-/pipelines/${pipeline.id}`
  const short = pipeline.sha.slice(0, 8)
  await mailFollowers(
    ctx,
    project,
    event,
    { part: author, author: null, ability: 'read_builds' },
    {
      subject: `${project.name} | Pipeline ${words[event]} for ${pipeline.ref} | ${short}`,
      text: `Pipeline #${pipeline.id} of ${pipeline.ref} at ${short} in ${project.full_path} ${words[event]}.\n\n${url}\n`,
      key: `pipeline-${pipeline.id}-${status}-${Date.parse(pipeline.finished_at ?? ctx.now())}`,
    },
  )
}
