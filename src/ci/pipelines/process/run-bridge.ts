import { planLimit } from '../../../access/plan-limits.ts'
import { findVisibleProject, type Project, withProjectRole } from '../../../access/subjects.ts'
import { forbidden, Problem } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { readCommit } from '../../../git/objects/commit.ts'
import { ifFound } from '../../../repositories/repository/missing.ts'
import { findById, findLatestVersion } from '../../../review/merge-requests/queries.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { configFault } from '../../config/fault.ts'
import { isMap, type Value, type ValueMap } from '../../config/values.ts'
import { VariableScope } from '../../config/variable-scope.ts'
import { expandText, namesIn, type YamlVariable } from '../../config/variables.ts'
import { findRunnableRef, mayRunAgain, mayRunPipelines, refusedVariables } from '../access.ts'
import { createPipeline } from '../create/create-pipeline.ts'
import type { PipelineRef } from '../create/known-variables.ts'
import { readParentArtifact } from '../create/parent-artifact.ts'
import type { RequestOrigin, RunVariable } from '../create/pipeline-input.ts'
import { VARIABLE_PURPOSE } from '../create/save-pipeline.ts'
import { findJobStatus, type JobRow } from '../job-queries.ts'
import { countHierarchy } from '../limit-queries.ts'
import { downstreamByJob, findSource, listVariables, type PipelineRow } from '../queries.ts'
import { endJob } from './change-jobs.ts'
import { bridgeVariables, requestOf } from './job-context.ts'
import { processPipeline } from './process.ts'
import { refusalByEnvironment } from './refusal-by-environment.ts'
import { type LoadedJob, loadJob } from './running.ts'
import { finishedDownstream } from './task-names.ts'
import { changeJob } from './transitions.ts'

/** Children of children of children are refused (docs/contract/D §5.2 trigger). */
const DEEPEST_CHILD = 2
/** Projects that start each other must come to an end. */
const LONGEST_CHAIN = 20

interface Wanted {
  readonly project: Project
  readonly source: 'pipeline' | 'parent_pipeline'
  readonly config?: ValueMap
  readonly request?: RequestOrigin | undefined
  findRef(): Promise<PipelineRef>
}

/** Makes the pipeline that a bridge job asks for: in another project, or a child of its own configuration. */
export async function runBridge(ctx: Ctx, job: JobRow): Promise<void> {
  const loaded = await loadJob(ctx.db, job.id)
  if (!loaded) return
  const options = JSON.parse(job.options) as ValueMap // written by us
  const trigger = isMap(options.trigger) ? options.trigger : { project: options.trigger }
  const depends = trigger.strategy === 'depend' || trigger.strategy === 'mirror'
  // The task runs again when the server died before the bridge went on.
  const known = (await downstreamByJob(ctx.db, [job.id])).get(job.id)
  const refusal = known ? undefined : await refusalByEnvironment(ctx, loaded)
  if (refusal !== undefined) return await failBridge(ctx, job, refusal)
  const made = known ?? (await makeDownstream(ctx, loaded, trigger, depends))
  if (!made) return
  await inTransaction(ctx, async (ctx) => {
    if (!depends) await endJob(ctx, job, { status: 'success' })
    else if (await changeJob(ctx, 'run', job)) {
      await processPipeline(ctx, job.pipeline_id)
      // It may have ended while nobody waited for it yet.
      await ctx.work.enqueue(ctx.db, finishedDownstream, { pipeline_id: made.id })
    }
  })
}

/** The new pipeline; undefined when it cannot be had, with the bridge failed. */
async function makeDownstream(
  ctx: Ctx,
  loaded: LoadedJob,
  trigger: ValueMap,
  depends: boolean,
): Promise<PipelineRow | undefined> {
  const { job } = loaded
  const own = JSON.parse(job.yaml_variables) as readonly YamlVariable[] // written by us
  const given = await bridgeVariables(ctx, loaded)
  const known = new VariableScope(given.known, own)
  const under = own.filter(({ key }) => !given.overriding.has(key))
  const named = new VariableScope(given.known, under)
  const wanted = await findWanted(ctx, loaded, trigger, (text) => expandText(text, named))
  if (typeof wanted === 'string') return void (await failBridge(ctx, job, wanted))
  const leaves = wanted.source === 'pipeline'
  const isLacking = (name: string) => leaves || given.ofRun.has(name)
  const variables = await forwarded(ctx, job, trigger.forward, { own, known, isLacking })
  // A child is of the same project and configuration; another project says who may give it variables.
  if (leaves && refusedVariables(wanted.project, variables)) {
    return void (await failBridge(ctx, job, 'downstream_pipeline_creation_failed'))
  }
  try {
    const at = await wanted.findRef()
    return await createPipeline(ctx, wanted.project, at, {
      ref: at.ref,
      source: wanted.source,
      variables,
      inputs: isMap(trigger.inputs) ? trigger.inputs : {},
      known: leaves ? upstreamOf(loaded) : ofParent(loaded, given.known),
      config: wanted.config,
      request: wanted.request,
      artifact: (name, path) => readParentArtifact(ctx, job, name, path),
      before: async (ctx) => {
        await assertWaiting(ctx, job)
        await assertRoom(ctx, job)
      },
      bridge: { jobId: job.id, depends },
    })
  } catch (error) {
    if (error instanceof HierarchyFull) return void (await failBridge(ctx, job, error.message))
    if (!(error instanceof Problem)) throw error
    return void (await failBridge(ctx, job, 'downstream_pipeline_creation_failed'))
  }
}

class HierarchyFull extends Error {}

/** Pipelines that lead to each other may be so many together; counted in the transaction that adds one, since bridges run side by side. */
async function assertRoom(ctx: Ctx, job: JobRow): Promise<void> {
  const most = planLimit(ctx.settings, 'pipeline_hierarchy_size')
  if (most > 0 && (await countHierarchy(ctx.db, job.pipeline_id, most)) >= most) {
    throw new HierarchyFull('reached_max_pipeline_hierarchy_size')
  }
}

/** Whoever canceled the bridge meanwhile wants no pipeline of it. */
async function assertWaiting(ctx: Ctx, job: JobRow): Promise<void> {
  if ((await findJobStatus(ctx.db, job.id)) !== 'pending') throw configFault('Bridge was canceled')
}

async function failBridge(ctx: Ctx, job: JobRow, reason: string): Promise<void> {
  await endJob(ctx, job, { status: 'failed', reason })
}

/** What the bridge wants, or why it cannot have it. */
async function findWanted(
  ctx: Ctx,
  { pipeline: own, project: row }: LoadedJob,
  trigger: ValueMap,
  expand: (text: string) => string,
): Promise<Wanted | string> {
  const depth = await depthOf(ctx, own.id)
  if (depth >= LONGEST_CHAIN) return 'pipeline_loop_detected'
  if (trigger.include !== undefined) {
    if (depth >= DEEPEST_CHILD) return 'reached_max_descendant_pipelines_depth'
    const project = await withProjectRole(ctx, row)
    return {
      project,
      source: 'parent_pipeline',
      config: { include: trigger.include },
      request: requestOf(own),
      findRef: () => refOfParent(ctx, project, own),
    }
  }
  const project =
    typeof trigger.project === 'string'
      ? await findVisibleProject(ctx, expand(trigger.project))
      : undefined
  if (!project) return 'downstream_bridge_project_not_found'
  if (!mayRunPipelines(ctx, project)) return 'insufficient_bridge_permissions'
  const ref = typeof trigger.branch === 'string' ? expand(trigger.branch) : project.default_branch
  return { project, source: 'pipeline', findRef: () => findRunnableRef(ctx, project, ref ?? '') }
}

/** A child runs on the very commit of its parent, wherever the branch is by now. */
async function refOfParent(ctx: Ctx, project: Project, own: PipelineRow): Promise<PipelineRef> {
  if (!(await mayRunAgain(ctx, project, own))) throw forbidden()
  const commit = await ifFound(readCommit(ctx.git.open(project.id), own.sha))
  if (!commit) throw configFault('Reference not found')
  const beforeSha = own.before_sha ?? undefined
  const { ref, merge_request_id: requestId, merge_request_event: event } = own
  const base = async (id: number) =>
    event === 'merged_result' ? commit.parentIds[0] : await baseOf(ctx, project, id)
  return {
    ref,
    tag: own.tag === 1,
    protected: own.protected === 1,
    commit,
    beforeSha,
    comparedTo: requestId === null ? beforeSha : await base(requestId),
  }
}

/** Where a merge request into the project began. */
async function baseOf(ctx: Ctx, project: Project, id: number): Promise<string | undefined> {
  const request = await findById(ctx.db, id)
  if (request?.target_project_id !== project.id) return undefined
  return (await findLatestVersion(ctx.db, request.id))?.base_sha
}

/** Whether a pipeline was started by others that were started by others, and so on, too often for one more. */
export async function isChainTooLong(ctx: Pick<Ctx, 'db'>, pipelineId: number): Promise<boolean> {
  return (await depthOf(ctx, pipelineId)) >= LONGEST_CHAIN
}

async function depthOf(ctx: Pick<Ctx, 'db'>, pipelineId: number): Promise<number> {
  let depth = 0
  let at = await findSource(ctx.db, pipelineId)
  while (at && depth < LONGEST_CHAIN) {
    depth += 1
    at = await findSource(ctx.db, at.pipeline_id)
  }
  return depth
}

/** Where a pipeline comes from, as its jobs see it. */
export function upstreamOf({ job }: Pick<LoadedJob, 'job'>): ReadonlyMap<string, string> {
  return new Map([
    ['CI_UPSTREAM_PIPELINE_ID', String(job.pipeline_id)],
    ['CI_UPSTREAM_PROJECT_ID', String(job.project_id)],
    ['CI_UPSTREAM_JOB_ID', String(job.id)],
  ])
}

/** What a child learns of its parent: its configuration is part of the parent's. */
function ofParent(loaded: LoadedJob, known: VariableScope): ReadonlyMap<string, string> {
  const configPath = known.get('CI_CONFIG_PATH') ?? ''
  return new Map([...upstreamOf(loaded), ['CI_CONFIG_PATH', configPath]])
}

interface Forwarding {
  readonly own: readonly YamlVariable[]
  readonly known: VariableScope
  /** Whether the other pipeline has a variable of the bridge only when it is handed on. */
  isLacking(name: string): boolean
}

/**
 * The job's own variables with what they name put in, and those of its pipeline's run where it forwards them. Files that are
 * named go along as files: their content is put into no other value.
 */
async function forwarded(
  ctx: Ctx,
  job: JobRow,
  forward: Value,
  { own, known, isLacking }: Forwarding,
): Promise<RunVariable[]> {
  const asked = isMap(forward) ? forward : {}
  const found: RunVariable[] = []
  if (asked.yaml_variables !== false) {
    const given = own.map(({ key, raw }) => ({ key, value: known.sent(key) ?? '', raw }))
    const named = new Set(given.flatMap(({ raw, value }) => (raw ? [] : namesIn(value))))
    for (const key of named) {
      const value = known.isFile(key) && isLacking(key) ? known.get(key) : undefined
      if (value !== undefined) found.push({ key, value, variable_type: 'file', raw: true })
    }
    found.push(...given.map((one) => ({ ...one, variable_type: 'env_var' as const })))
  }
  if (asked.pipeline_variables !== true) return found
  for (const row of await listVariables(ctx.db, job.pipeline_id)) {
    const value = ctx.vault.open(row.sealed_value, VARIABLE_PURPOSE)
    found.push({ key: row.key, value, variable_type: row.variable_type, raw: row.raw === 1 })
  }
  return found
}
