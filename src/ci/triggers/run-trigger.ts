import { actAs } from '../../access/act-as.ts'
import { userOf } from '../../access/actor.ts'
import { findJobActor } from '../../access/authentication/job-token.ts'
import { findVisibleProject, type Project } from '../../access/subjects.ts'
import { digestOf } from '../../access/token-use.ts'
import { invalid, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { findRunnableRef, mayRunPipelines, setsRunVariables } from '../pipelines/access.ts'
import { createPipeline } from '../pipelines/create/create-pipeline.ts'
import type { PipelineInput, RunVariable } from '../pipelines/create/pipeline-input.ts'
import { isChainTooLong, upstreamOf } from '../pipelines/process/run-bridge.ts'
import { jobOf } from '../pipelines/process/running.ts'
import type { PipelineRow } from '../pipelines/queries.ts'
import { findTriggerByDigest, updateTrigger } from './queries.ts'

/** What a caller with a token wants to be run. */
export interface TriggerInput {
  readonly token: string
  readonly ref: string
  readonly variables: readonly RunVariable[]
  readonly inputs: Readonly<Record<string, unknown>>
}

/** Who asks, where, and what that makes the pipeline. */
interface Asked {
  readonly ctx: Ctx
  readonly project: Project
  readonly origin: Pick<PipelineInput, 'source' | 'bridge' | 'triggerId' | 'known'>
}

/**
 * Starts a pipeline for whoever holds a trigger token of the project, or the token of a job that runs
 * (docs/contract/D §1.17): 404 for any other token, so that nobody learns which projects there are.
 */
export async function runTrigger(
  given: Ctx,
  idOrPath: string,
  input: TriggerInput,
): Promise<{ readonly ctx: Ctx; readonly project: Project; readonly pipeline: PipelineRow }> {
  const asked =
    (await byTrigger(given, idOrPath, input.token)) ?? (await byJob(given, idOrPath, input.token))
  if (!asked) throw notFound()
  const { ctx, project, origin } = asked
  if (userOf(ctx.actor) === null || !mayRunPipelines(ctx, project)) {
    throw invalid({ base: ['Insufficient permissions to trigger this pipeline'] })
  }
  const { ref, variables, inputs } = input
  const at = await findRunnableRef(ctx, project, ref)
  await setsRunVariables.assert({ project, body: { variables } })
  // Values were read from JSON or a form; the configuration checks their types.
  const values = inputs as PipelineInput['inputs']
  const wanted = { ref, variables, inputs: values, ...origin }
  const pipeline = await createPipeline(ctx, project, at, wanted)
  return { ctx, project, pipeline }
}

async function byTrigger(given: Ctx, idOrPath: string, token: string): Promise<Asked | undefined> {
  const trigger = await findTriggerByDigest(given.db, digestOf(token))
  const isOver = trigger?.expires_at != null && trigger.expires_at <= given.now()
  if (!trigger || isOver) return undefined
  const ctx = await actAs(given, trigger.owner_id)
  const project = await findVisibleProject(ctx, idOrPath)
  if (project?.id !== trigger.project_id) return undefined
  await updateTrigger(ctx.db, trigger.id, { last_used_at: ctx.now() })
  const known = new Map([['CI_TRIGGER_SHORT_TOKEN', trigger.token_start]])
  return { ctx, project, origin: { source: 'trigger', triggerId: trigger.id, known } }
}

async function byJob(given: Ctx, idOrPath: string, token: string): Promise<Asked | undefined> {
  const actor = await findJobActor(given, token)
  if (!actor) return undefined
  const ctx = { ...given, actor }
  const project = await findVisibleProject(ctx, idOrPath)
  if (!project) return undefined
  const job = await jobOf(ctx.db, actor.jobId)
  if (!job || (await isChainTooLong(ctx, job.pipeline_id))) {
    throw invalid({ base: ['Pipelines start each other in a circle'] })
  }
  const bridge = { jobId: actor.jobId, depends: false }
  return {
    ctx,
    project,
    origin: { source: 'pipeline', bridge, known: upstreamOf({ job }) },
  }
}
