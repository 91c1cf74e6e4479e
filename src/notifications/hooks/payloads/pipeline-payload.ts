import type { Project } from '../../../access/subjects.ts'
import { listRunVariables } from '../../../ci/pipelines/create/run-variables.ts'
import { secondsBetween } from '../../../ci/pipelines/describe-pipeline.ts'
import { presentDetailedStatus } from '../../../ci/pipelines/detailed-status.ts'
import { type JobRow, listCurrentJobs } from '../../../ci/pipelines/job-queries.ts'
import type { PipelineRow } from '../../../ci/pipelines/queries.ts'
import type { Ctx } from '../../../ctx.ts'
import { readCommits } from '../../../git/objects/commit.ts'
import { noObject } from '../../../git/types.ts'
import { hookProject, hookRepository, hookUserById } from './payload-parts.ts'
import { type JobParts, jobParts, requestPart, sourcePart } from './pipeline-parts.ts'
import { plainCommit } from './push-hooks.ts'

/** How long something took; null while it has not begun or ended. */
function seconds(from: string | null, to: string | null): number | null {
  return from === null || to === null ? null : secondsBetween(from, to)
}

/** The payload of a pipeline, with the variables that it was run with (docs/contract/D §1.25). */
export async function pipelinePayload(ctx: Ctx, project: Project, row: PipelineRow) {
  const jobs = await listCurrentJobs(ctx.db, row.id)
  const path = `/${project.full_path}/-/pipelines/${row.id}`
  const url = `${ctx.config.externalUrl}${path}`
  const [commit] = await readCommits(ctx.git.open(project.id), [row.sha])
  const { started_at, finished_at } = row
  const parts = await jobParts(ctx, jobs)
  const variables = await listRunVariables(ctx, row.id, null)
  return {
    object_kind: 'pipeline',
    object_attributes: {
      id: row.id,
      iid: row.iid,
      name: row.name,
      ref: row.ref,
      tag: row.tag === 1,
      sha: row.sha,
      before_sha: row.before_sha ?? noObject,
      source: row.source,
      status: row.status,
      detailed_status: presentDetailedStatus(row.status, path, false).label,
      stages: [...new Set(jobs.map((job) => job.stage))],
      created_at: row.created_at,
      finished_at,
      duration: seconds(started_at, finished_at),
      queued_duration: seconds(row.created_at, started_at),
      variables: variables.map(({ key, value }) => ({ key, value })),
      url,
    },
    merge_request: await requestPart(ctx, row),
    user: await hookUserById(ctx, row.user_id),
    project: hookProject(ctx, project),
    commit: commit && plainCommit(ctx, project, commit),
    source_pipeline: await sourcePart(ctx, row),
    builds: await Promise.all(jobs.map((job) => jobPart(ctx, job, parts))),
  }
}

async function jobPart(ctx: Ctx, job: JobRow, parts: JobParts) {
  const { started_at, finished_at, queued_at } = job
  return {
    id: job.id,
    stage: job.stage,
    name: job.name,
    status: job.status,
    created_at: job.created_at,
    started_at,
    finished_at,
    duration: seconds(started_at, finished_at),
    queued_duration: seconds(queued_at, started_at),
    failure_reason: job.failure_reason,
    when: job.run_when,
    manual: job.run_when === 'manual',
    allow_failure: job.allow_failure === 1,
    user: await hookUserById(ctx, job.user_id),
    ...parts(job),
  }
}

/** The payload of a job (docs/contract/D §1.25 Job Hook). */
export async function jobPayload(
  ctx: Ctx,
  project: Project,
  given: { readonly pipeline: PipelineRow; readonly job: JobRow; readonly retries: number },
) {
  const { pipeline, job, retries } = given
  const [commit] = await readCommits(ctx.git.open(project.id), [pipeline.sha])
  const part = await jobPart(ctx, job, await jobParts(ctx, [job]))
  return {
    object_kind: 'build',
    ref: pipeline.ref,
    tag: pipeline.tag === 1,
    before_sha: pipeline.before_sha ?? noObject,
    sha: pipeline.sha,
    build_id: job.id,
    build_name: job.name,
    build_stage: job.stage,
    build_status: job.status,
    build_created_at: job.created_at,
    build_started_at: job.started_at,
    build_finished_at: job.finished_at,
    build_duration: part.duration,
    build_queued_duration: part.queued_duration,
    build_allow_failure: part.allow_failure,
    build_failure_reason: job.failure_reason ?? 'unknown_failure',
    retries_count: retries,
    pipeline_id: pipeline.id,
    project_id: project.id,
    project_name: project.full_path,
    user: part.user,
    commit: {
      id: pipeline.id,
      name: pipeline.name,
      sha: pipeline.sha,
      message: commit?.message ?? null,
      author_name: commit?.author.name ?? null,
      author_email: commit?.author.email ?? null,
      status: pipeline.status,
      started_at: pipeline.started_at,
      finished_at: pipeline.finished_at,
      duration: seconds(pipeline.started_at, pipeline.finished_at),
    },
    repository: hookRepository(ctx, project),
    project: hookProject(ctx, project),
    runner: part.runner,
    environment: part.environment,
    source_pipeline: await sourcePart(ctx, pipeline),
  }
}
