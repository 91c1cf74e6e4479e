import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { readCommits } from '../../git/objects/commit.ts'
import {
  usersWithProfileById,
  userWithProfileEntity,
} from '../../identity/users/profile/present-profile.ts'
import { projectSetting } from '../../projects/projects/settings.ts'
import { commitEntity, presentCommit } from '../../repositories/commits/entity.ts'
import {
  pipelineBasicEntity,
  presentPipelineBasic,
} from '../../repositories/commits/pipeline-entity.ts'
import { managerEntity, presentManagers, presentRunners, runnerEntity } from '../runners/present.ts'
import { type ArtifactRow, listTraceSizes } from './artifact-queries.ts'
import { artifactsOfJobs } from './artifacts-of-job.ts'
import { secondsBetween } from './describe-pipeline.ts'
import type { JobRow } from './job-queries.ts'
import { FINISHED } from './process/update-status.ts'
import { type PipelineRow, pipelinesById } from './queries.ts'

const jobFields = {
  id: z.int(),
  status: z.string(),
  stage: z.string(),
  name: z.string(),
  ref: z.string(),
  tag: z.boolean(),
  coverage: z.number().nullable(),
  allow_failure: z.boolean(),
  created_at: z.string(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  erased_at: z.string().nullable(),
  duration: z.number().nullable(),
  queued_duration: z.number().nullable(),
  user: userWithProfileEntity.nullable(),
  commit: commitEntity.nullable(),
  pipeline: pipelineBasicEntity,
  failure_reason: z.string().optional(),
  web_url: z.string(),
  project: z.strictObject({ ci_job_token_scope_enabled: z.boolean() }),
  archived: z.boolean(),
  tag_list: z.array(z.string()),
}

/** A job (docs/contract/B §Job). */
export const jobEntity = z.strictObject({
  ...jobFields,
  artifacts: z.array(
    z.strictObject({
      file_type: z.string(),
      size: z.int(),
      filename: z.string(),
      file_format: z.string().nullable(),
    }),
  ),
  artifacts_file: z.strictObject({ filename: z.string(), size: z.int() }).optional(),
  runner: runnerEntity.nullable(),
  runner_manager: managerEntity.nullable(),
  artifacts_expire_at: z.string().nullable(),
})

/** A job that starts another pipeline: a job without a runner and artifacts (docs/contract/B §Job). */
export const bridgeEntity = z.strictObject({
  ...jobFields,
  downstream_pipeline: pipelineBasicEntity.nullable(),
})

/** What jobs of a page share: their pipelines, commits and people, each read once. */
export interface JobPresenter {
  job(row: JobRow): z.input<typeof jobEntity>
  bridge(
    row: JobRow,
    downstream: (PipelineRow & { readonly full_path: string }) | undefined,
  ): z.input<typeof bridgeEntity>
}

export async function jobPresenter(
  ctx: Ctx,
  project: Project,
  rows: readonly JobRow[],
): Promise<JobPresenter> {
  const pipelines = await pipelinesById(
    ctx.db,
    rows.map((row) => row.pipeline_id),
  )
  const users = await usersWithProfileById(
    ctx,
    rows.map((row) => row.user_id),
  )
  const files = await artifactsOfJobs(
    ctx,
    rows.map((row) => row.id),
  )
  const finished = rows.filter((row) => FINISHED.includes(row.status))
  const traces = await listTraceSizes(
    ctx.db,
    finished.map((row) => row.id),
  )
  const runners = await presentRunners(ctx, [
    ...new Set(rows.flatMap((row) => row.runner_id ?? [])),
  ])
  const managers = await presentManagers(ctx, [
    ...new Set(rows.flatMap((row) => row.runner_manager_id ?? [])),
  ])
  const shas = [...new Set([...pipelines.values()].map(({ sha }) => sha))]
  const commits = await readCommits(ctx.git.open(project.id), shas)
  const commitById = new Map(commits.map((commit) => [commit.id, commit]))
  const fields = (row: JobRow) => {
    const pipeline = pipelines.get(row.pipeline_id)
    if (!pipeline) throw new Error(`job ${row.id} has no pipeline`)
    const commit = commitById.get(pipeline.sha)
    return {
      ...plainFields(ctx, project, row),
      ref: pipeline.ref,
      tag: pipeline.tag === 1,
      user: (row.user_id === null ? undefined : users.get(row.user_id)) ?? null,
      commit: commit ? presentCommit(ctx, project, commit) : null,
      pipeline: presentPipelineBasic(ctx, project, pipeline),
      archived: false,
      tag_list: JSON.parse(row.tags) as string[], // written by us
    }
  }
  return {
    job: (row) => ({
      ...fields(row),
      ...presentFiles(files.get(row.id) ?? [], traces.get(row.id)),
      runner: (row.runner_id === null ? undefined : runners.get(row.runner_id)) ?? null,
      runner_manager:
        (row.runner_manager_id === null ? undefined : managers.get(row.runner_manager_id)) ?? null,
      artifacts_expire_at: row.artifacts_expire_at,
    }),
    bridge: (row, downstream) => ({
      ...fields(row),
      downstream_pipeline: downstream ? presentPipelineBasic(ctx, downstream, downstream) : null,
    }),
  }
}

/** The log of a job that has ended is one of its files. */
function presentFiles(files: readonly ArtifactRow[], traceSize: number | undefined) {
  const archive = files.find((file) => file.file_type === 'archive')
  const trace = { file_type: 'trace', filename: 'job.log', file_format: 'raw' }
  return {
    artifacts: [
      ...files.map(({ file_type, size, filename, file_format }) => ({
        file_type,
        size,
        filename,
        file_format,
      })),
      ...(traceSize === undefined ? [] : [{ ...trace, size: traceSize }]),
    ],
    ...(archive ? { artifacts_file: { filename: archive.filename, size: archive.size } } : {}),
  }
}

function plainFields(ctx: Ctx, project: Project, row: JobRow) {
  const { started_at, finished_at, queued_at } = row
  const until = finished_at ?? ctx.now()
  return {
    id: row.id,
    status: row.status,
    stage: row.stage,
    name: row.name,
    coverage: row.coverage,
    allow_failure: row.allow_failure === 1,
    created_at: row.created_at,
    started_at,
    finished_at,
    erased_at: row.erased_at,
    duration: started_at === null ? null : secondsBetween(started_at, until),
    queued_duration: queued_at === null ? null : secondsBetween(queued_at, started_at ?? until),
    ...(row.status === 'failed' ? { failure_reason: row.failure_reason ?? 'unknown_failure' } : {}),
    web_url: `${ctx.config.externalUrl}/${project.full_path}/-/jobs/${row.id}`,
    project: {
      ci_job_token_scope_enabled: projectSetting(project, 'ci_job_token_scope_enabled'),
    },
  }
}
