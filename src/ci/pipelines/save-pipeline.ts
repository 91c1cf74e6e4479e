import { userOf } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { projectSetting } from '../../projects/projects/settings.ts'
import { nextIid } from '../../store/iid.ts'
import type { PipelinePlan, PlannedJob } from '../config/plan.ts'
import { insertJob, insertStages } from './job-queries.ts'
import type { PipelineRef } from './known-variables.ts'
import { processPipeline } from './process.ts'
import { insertPipeline, insertVariables, type PipelineRow } from './queries.ts'

/** What is sealed as the value of a variable of a run. */
export const VARIABLE_PURPOSE = 'pipeline_variables.value'

interface Run {
  readonly source: string
  readonly variables: readonly {
    readonly key: string
    readonly value: string
    readonly variable_type: 'env_var' | 'file'
  }[]
}

/** Writes a planned pipeline with its stages, jobs and variables, and lets its first jobs go. In a transaction. */
export async function savePipeline(
  ctx: Ctx,
  project: Project,
  at: PipelineRef,
  plan: PipelinePlan,
  run: Run,
): Promise<PipelineRow> {
  const userId = userOf(ctx.actor)?.id ?? null
  const pipeline = await insertPipeline(
    ctx.db,
    {
      iid: await nextIid(ctx.db, project.id, 'pipeline'),
      project_id: project.id,
      sha: at.commit.id,
      ref: at.ref,
      tag: at.tag,
      source: run.source,
      status: 'created',
      user_id: userId,
      name: plan.name ?? null,
      before_sha: at.beforeSha ?? null,
      protected: at.protected,
    },
    ctx.now(),
  )
  const variables = new Map(run.variables.map((variable) => [variable.key, variable]))
  await insertVariables(
    ctx.db,
    pipeline.id,
    [...variables.values()].map(({ key, value, variable_type }) => ({
      key,
      sealed_value: ctx.vault.seal(value, VARIABLE_PURPOSE),
      variable_type,
      raw: 0,
    })),
  )
  const stages = await insertStages(ctx.db, pipeline.id, plan.stages)
  for (const job of plan.jobs) {
    const stageId = stages.get(job.stage)
    if (stageId === undefined) throw new Error(`job ${job.name} has no stage`)
    const row = { ...jobRow(project, job), pipeline_id: pipeline.id, stage_id: stageId }
    const times = { created_at: ctx.now(), updated_at: ctx.now() }
    const needs = job.needs ?? []
    await insertJob(
      ctx.db,
      { ...row, ...times, user_id: userId },
      needs.map((need) => ({ name: need.job, artifacts: need.artifacts })),
    )
  }
  await processPipeline(ctx, pipeline.id)
  return pipeline
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
