import { findProjectById } from '../../../access/find-queries.ts'
import { readEnvironment } from '../../../ci/environments/follow-jobs.ts'
import { tierOf } from '../../../ci/environments/naming.ts'
import { artifactsOfJobs } from '../../../ci/pipelines/artifacts-of-job.ts'
import type { JobRow } from '../../../ci/pipelines/job-queries.ts'
import { findSource, type PipelineRow } from '../../../ci/pipelines/queries.ts'
import { listRunnersById } from '../../../ci/runners/queries.ts'
import type { Ctx } from '../../../ctx.ts'
import { presentMergeRequests } from '../../../review/merge-requests/present.ts'
import { findById } from '../../../review/merge-requests/queries.ts'

/** What payloads say of a job that other records know. */
export type JobParts = (job: JobRow) => {
  readonly runner: object | null
  readonly artifacts_file: { readonly filename: string | null; readonly size: number | null }
  readonly environment: object | null
}

/** The runners, archives and environments of jobs, looked up together. */
export async function jobParts(ctx: Ctx, jobs: readonly JobRow[]): Promise<JobParts> {
  const files = await artifactsOfJobs(
    ctx,
    jobs.map((job) => job.id),
  )
  const ids = [...new Set(jobs.flatMap((job) => job.runner_id ?? []))]
  const runners = new Map((await listRunnersById(ctx.db, ids)).map((row) => [row.id, row]))
  return (job) => {
    const runner = job.runner_id === null ? undefined : runners.get(job.runner_id)
    const archive = files.get(job.id)?.find((file) => file.file_type === 'archive')
    return {
      runner: runner
        ? {
            id: runner.id,
            description: runner.description,
            runner_type: runner.runner_type,
            active: runner.paused === 0,
            is_shared: runner.runner_type === 'instance_type',
            tags: JSON.parse(runner.tags) as string[], // written by us
          }
        : null,
      artifacts_file: { filename: archive?.filename ?? null, size: archive?.size ?? null },
      environment: environmentPart(job),
    }
  }
}

function environmentPart(job: JobRow) {
  if (job.environment === null) return null
  const { name, action, deployment_tier } = readEnvironment(job.environment)
  return { name, action: action ?? 'start', deployment_tier: tierOf(name, deployment_tier) }
}

/** The merge request of a pipeline, as its hooks show it. */
export async function requestPart(ctx: Ctx, pipeline: PipelineRow) {
  const row =
    pipeline.merge_request_id === null
      ? undefined
      : await findById(ctx.db, pipeline.merge_request_id)
  const [shown] = row ? await presentMergeRequests(ctx, [row]) : []
  if (!row || !shown) return null
  return {
    id: row.id,
    iid: row.iid,
    title: row.title,
    source_branch: row.source_branch,
    source_project_id: row.source_project_id,
    target_branch: row.target_branch,
    target_project_id: row.target_project_id,
    state: row.state,
    merge_status: shown.merge_status,
    detailed_merge_status: shown.detailed_merge_status,
    url: shown.web_url,
  }
}

/** The job and pipeline that started a pipeline. */
export async function sourcePart(ctx: Ctx, pipeline: PipelineRow) {
  const source = await findSource(ctx.db, pipeline.id)
  const project = source && (await findProjectById(ctx.db, source.project_id))
  if (!source || !project) return null
  return {
    project: {
      id: project.id,
      web_url: `${ctx.config.externalUrl}/${project.full_path}`,
      path_with_namespace: project.full_path,
    },
    pipeline_id: source.pipeline_id,
    job_id: source.job_id,
  }
}
