import { findProjectById } from '../../../access/find-queries.ts'
import type { Ctx } from '../../../ctx.ts'
import { projectSetting } from '../../../projects/projects/settings.ts'
import { listJobStates } from '../job-queries.ts'
import { cancelJobs, processPipeline } from '../process/process.ts'
import {
  findPipeline,
  findSource,
  listRedundant,
  type PipelineRow,
  updatePipeline,
} from '../queries.ts'

/** What makes older pipelines of a ref redundant: new commits, not another run of the same one. */
const SOURCES: readonly string[] = ['push', 'merge_request_event']

/**
 * Cancels what older pipelines of a ref still do when a newer commit has one, as their configuration lets it
 * (docs/contract/D §5.3): by default all of a pipeline that has begun no job which must not be interrupted.
 */
export async function cancelRedundant(ctx: Ctx, newer: PipelineRow): Promise<void> {
  if (!SOURCES.includes(newer.source) || newer.tag === 1) return
  const project = await findProjectById(ctx.db, newer.project_id)
  if (!project) return
  const settings = JSON.parse(project.settings) as Record<string, unknown> // written by us
  if (projectSetting({ settings }, 'auto_cancel_pending_pipelines') !== 'enabled') return
  for (const older of await listRedundant(ctx.db, newer)) {
    if (!REDUNDANT.includes((await rootOf(ctx, older)).source)) continue
    const jobs = await listJobStates(ctx.db, older.id)
    const canceled = await cancelJobs(ctx, interruptibleOf(older, jobs))
    if (!canceled) continue
    await updatePipeline(ctx.db, older.id, { canceled_by_id: newer.id }, ctx.now())
    await processPipeline(ctx, older.id)
  }
}

/** A child is redundant when the pipeline is that it goes back to. */
const REDUNDANT: readonly string[] = [...SOURCES, 'web', 'api']

async function rootOf(ctx: Ctx, pipeline: PipelineRow): Promise<PipelineRow> {
  if (pipeline.source !== 'parent_pipeline') return pipeline
  const source = await findSource(ctx.db, pipeline.id)
  const parent = source && (await findPipeline(ctx.db, source.pipeline_id))
  return parent ? await rootOf(ctx, parent) : pipeline
}

const BEGUN: readonly string[] = ['running', 'canceling', 'success', 'failed']

type State = Awaited<ReturnType<typeof listJobStates>>[number]

function interruptibleOf(pipeline: PipelineRow, jobs: readonly State[]): readonly State[] {
  if (pipeline.on_new_commit === 'none') return []
  const mayBeInterrupted = jobs.filter((job) => job.interruptible === 1)
  if (pipeline.on_new_commit === 'interruptible') return mayBeInterrupted
  const builds = jobs.filter((job) => job.kind === 'build')
  const isBusy = builds.some((job) => job.interruptible === 0 && BEGUN.includes(job.status))
  return isBusy ? [] : jobs
}
