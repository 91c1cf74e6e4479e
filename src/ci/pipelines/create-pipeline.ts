import { Role } from '../../access/roles.ts'
import type { Project } from '../../access/subjects.ts'
import { invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { listChangedPaths } from '../../git/changed-paths.ts'
import { findMergeBases } from '../../git/merge-base.ts'
import { resolveRevision } from '../../git/revision.ts'
import { projectSetting } from '../../projects/projects/settings.ts'
import { placeOwnRef } from '../../repositories/refs/own-refs.ts'
import { ifFound } from '../../repositories/repository/missing.ts'
import { inTransaction } from '../../store/transaction.ts'
import { compileConfig } from '../config/compile.ts'
import { configFault } from '../config/fault.ts'
import { withIncludes } from '../config/include.ts'
import { fillInputs } from '../config/inputs.ts'
import { type NoPipeline, type PipelinePlan, planPipeline } from '../config/plan.ts'
import type { Circumstances } from '../config/rules.ts'
import type { ValueMap } from '../config/values.ts'
import { readConfigFile } from '../config/yaml.ts'
import { configSources, listPaths } from './config-sources.ts'
import { findConfig } from './find-config.ts'
import { assertMayRunOn, findPipelineRef } from './find-ref.ts'
import { knownVariables, type PipelineRef } from './known-variables.ts'
import { findPipeline, insertSource, type PipelineRow } from './queries.ts'
import { savePipeline } from './save-pipeline.ts'

/** A variable of one run. */
export interface RunVariable {
  readonly key: string
  readonly value: string
  readonly variable_type: 'env_var' | 'file'
}

export interface PipelineWish {
  readonly ref: string
  readonly source: string
  readonly variables: readonly RunVariable[]
  readonly inputs: ValueMap
  /** A configuration to take instead of the project's own: children bring theirs. */
  readonly config?: ValueMap | undefined
  /** The bridge that wants it. */
  readonly bridge?: { readonly jobId: number; readonly depends: boolean } | undefined
}

/** Makes a pipeline for a branch or tag and lets its first jobs go (spec D §1.15, §5.3). */
export async function createPipeline(
  ctx: Ctx,
  project: Project,
  wish: PipelineWish,
): Promise<PipelineRow> {
  const at = await findPipelineRef(ctx, project, wish.ref)
  await assertMayRunOn(ctx, project, at)
  assertMaySetVariables(project, wish)
  const plan = await makePlan(ctx, project, at, wish)
  if (plan === 'workflow') throw configFault('Pipeline filtered out by workflow rules.')
  if (plan === 'no_jobs') {
    throw configFault(
      'Pipeline will not run for the selected trigger. The rules configuration prevented any jobs from being added to the pipeline.',
    )
  }
  const { id } = await inTransaction(ctx, async (ctx) => {
    const row = await savePipeline(ctx, project, at, plan, wish)
    if (wish.bridge) {
      const { jobId, depends } = wish.bridge
      await insertSource(ctx.db, { pipeline_id: row.id, job_id: jobId, depends })
    }
    return row
  })
  // Keeps the commit for as long as the pipeline: jobs fetch this ref.
  await placeOwnRef(ctx.git.open(project.id), `refs/pipelines/${id}`, at.commit.id)
  const saved = await findPipeline(ctx.db, id)
  if (!saved) throw configFault('Pipeline was removed')
  return saved
}

const LEAST_ROLES = {
  no_one_allowed: Role.admin,
  developer: Role.developer,
  maintainer: Role.maintainer,
  owner: Role.owner,
} as const

/** Refuses variables of a run below the role that the project asks for (spec D §1.15). */
function assertMaySetVariables(project: Project, wish: PipelineWish): void {
  if (wish.variables.length === 0) return
  const asked = projectSetting(project, 'ci_pipeline_variables_minimum_override_role')
  const restricted = projectSetting(project, 'restrict_user_defined_variables')
  const least = restricted ? Math.max(Role.maintainer, LEAST_ROLES[asked]) : LEAST_ROLES[asked]
  if (project.role >= least) return
  throw invalid({ base: ['Insufficient permissions to set pipeline variables'] })
}

async function makePlan(
  ctx: Ctx,
  project: Project,
  at: PipelineRef,
  wish: PipelineWish,
): Promise<PipelinePlan | NoPipeline> {
  const sources = configSources(ctx)
  const place = { projectId: project.id, sha: at.commit.id }
  const found = wish.config ? undefined : await findConfig(ctx, project, at.commit.id, sources)
  const limits = {
    maxBytes: ctx.settings.get('max_yaml_size_bytes'),
    maxDepth: ctx.settings.get('max_yaml_depth'),
  }
  const variables = await knownVariables(ctx, project, {
    ...at,
    source: wish.source,
    configPath: found?.path ?? '',
  })
  for (const { key, value } of wish.variables) variables.set(key, value)
  const circumstances = circumstancesOf(ctx, project, at, wish.source, variables)
  const content = found
    ? fillInputs(readConfigFile(found.text, limits), wish.inputs, found.path)
    : (wish.config ?? {})
  const context = { sources, circumstances, limits, included: [] }
  const merged = await withIncludes(context, content, found?.place ?? place)
  return await planPipeline(compileConfig(merged), circumstances)
}

function circumstancesOf(
  ctx: Ctx,
  project: Project,
  at: PipelineRef,
  source: string,
  variables: ReadonlyMap<string, string>,
): Circumstances {
  const repo = ctx.git.open(project.id)
  let paths: Promise<readonly string[]> | undefined
  return {
    ref: at.ref,
    tag: at.tag,
    source,
    variables,
    paths() {
      paths ??= listPaths(ctx, { projectId: project.id, sha: at.commit.id })
      return paths
    },
    async changed(compareTo) {
      const from =
        compareTo === undefined
          ? at.beforeSha
          : (await ifFound(resolveRevision(repo, compareTo)))?.commitId
      if (from === undefined) {
        if (compareTo === undefined) return undefined
        throw configFault(`rules:changes:compare_to \`${compareTo}\` is not a valid ref`)
      }
      const [base = from] =
        compareTo === undefined ? [] : await findMergeBases(repo, [from, at.commit.id])
      const changed = await listChangedPaths(repo, base, at.commit.id)
      return [...new Set(changed.flatMap((one) => [one.oldPath, one.newPath]))]
    },
  }
}
