import { userOf } from '../../../access/actor.ts'
import type { Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import { projectSetting } from '../../../projects/projects/settings.ts'
import { nextIid } from '../../../store/iid.ts'
import type { PipelinePlan, PlannedJob } from '../../config/plan.ts'
import { insertJobs, insertStages } from '../job-queries.ts'
import { insertPipeline, insertVariables, type PipelineRow } from '../queries.ts'
import type { PipelineRef } from './known-variables.ts'
import type { PipelineInput } from './pipeline-input.ts'

/** What is sealed as the value of a variable of a run. */
export const VARIABLE_PURPOSE = 'pipeline_variables.value'

export interface PlannedInput extends PipelineInput {
  readonly skipped?: boolean
  /** Where the configuration was found. */
  readonly configPath?: string | undefined
}

/** Writes a planned pipeline with its stages, jobs and variables. In a transaction. */
export async function savePipeline(
  ctx: Ctx,
  project: Project,
  at: PipelineRef,
  plan: PipelinePlan,
  input: PlannedInput,
): Promise<PipelineRow> {
  const userId = userOf(ctx.actor)?.id ?? null
  const status = input.skipped ? 'skipped' : 'created'
  const pipeline = await insertPipeline(
    ctx.db,
    {
      ...(await originOf(ctx, project, at, input)),
      status,
      name: plan.name ?? null,
      on_new_commit: plan.autoCancel.onNewCommit,
      on_job_failure: plan.autoCancel.onJobFailure,
      ...(input.skipped ? { finished_at: ctx.now() } : {}),
    },
    ctx.now(),
  )
  await saveVariables(ctx, pipeline.id, input)
  const stages = await insertStages(ctx.db, pipeline.id, plan.stages)
  const common = {
    pipeline_id: pipeline.id,
    status,
    user_id: userId,
    created_at: ctx.now(),
    updated_at: ctx.now(),
  } as const
  const jobs = plan.jobs.map((job) => {
    const stage_id = stages.get(job.stage)
    if (stage_id === undefined) throw new Error(`job ${job.name} has no stage`)
    const needs = (job.needs ?? []).map((need) => ({ name: need.job, artifacts: need.artifacts }))
    return { row: { ...jobRow(project, job), ...common, stage_id }, needs }
  })
  await insertJobs(ctx.db, jobs)
  return pipeline
}

/** Writes a pipeline without jobs, whose configuration cannot be used (docs/contract/D §5.3). In a transaction. */
export async function saveFaultyPipeline(
  ctx: Ctx,
  project: Project,
  at: PipelineRef,
  input: PipelineInput & { readonly fault: string },
): Promise<PipelineRow> {
  const now = ctx.now()
  const state = { status: 'failed', yaml_errors: input.fault, finished_at: now } as const
  return await insertPipeline(
    ctx.db,
    { ...(await originOf(ctx, project, at, input)), ...state },
    now,
  )
}

async function originOf(ctx: Ctx, project: Project, at: PipelineRef, input: PlannedInput) {
  const { request, configPath } = input
  return {
    iid: await nextIid(ctx.db, project.id, 'pipeline'),
    project_id: project.id,
    sha: at.commit.id,
    ref: at.ref,
    tag: at.tag,
    source: input.source,
    user_id: userOf(ctx.actor)?.id ?? null,
    before_sha: at.beforeSha ?? null,
    protected: at.protected,
    merge_request_id: request?.id ?? null,
    merge_request_event: request?.event ?? null,
    schedule_id: input.scheduleId ?? null,
    trigger_id: input.triggerId ?? null,
    source_sha: request?.sourceSha ?? null,
    target_sha: request?.targetSha ?? null,
    request_variables: JSON.stringify(
      Object.fromEntries([
        ...(request?.variables ?? []),
        ...(input.known ?? []),
        ...(configPath === undefined ? [] : [['CI_CONFIG_PATH', configPath] as const]),
      ]),
    ),
  }
}

async function saveVariables(ctx: Ctx, pipelineId: number, input: PipelineInput): Promise<void> {
  const variables = new Map(input.variables.map((variable) => [variable.key, variable]))
  await insertVariables(
    ctx.db,
    pipelineId,
    [...variables.values()].map(({ key, value, variable_type, raw }) => ({
      key,
      sealed_value: ctx.vault.seal(value, VARIABLE_PURPOSE),
      variable_type,
      raw: raw ? 1 : 0,
    })),
  )
}

function jobRow(project: Project, job: PlannedJob) {
  return {
    project_id: project.id,
    kind: job.kind,
    name: job.name,
    run_when: job.when,
    start_in: job.startIn ?? null,
    allow_failure: job.allowFailure,
    uses_needs: job.needs !== undefined,
    tags: JSON.stringify(job.tags),
    options: JSON.stringify(job.options),
    yaml_variables: JSON.stringify(job.variables),
    environment: job.environment === undefined ? null : JSON.stringify(job.environment),
    resource_group: job.resourceGroup ?? null,
    interruptible: job.interruptible,
    coverage_regex: job.coverage ?? projectSetting(project, 'build_coverage_regex') ?? null,
    timeout: job.timeout ?? projectSetting(project, 'build_timeout'),
    node_index: job.copy?.index ?? null,
    node_total: job.copy?.total ?? null,
  }
}
