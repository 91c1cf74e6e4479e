import { z } from 'zod'
import { callerKey } from '../../access/caller-key.ts'
import type { Project } from '../../access/subjects.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { isObjectId } from '../../git/names.ts'
import { readCommit } from '../../git/objects/commit.ts'
import { defaultRef } from '../../repositories/repository/access.ts'
import { ifFound } from '../../repositories/repository/missing.ts'
import type { CompiledConfig } from '../config/compile.ts'
import { resolveExtends, resolveReferences } from '../config/extend.ts'
import type { Included } from '../config/include.ts'
import type { PlannedJob } from '../config/plan.ts'
import { writeYaml } from '../config/yaml.ts'
import { mayRunOn, mayRunPipelines } from '../pipelines/access.ts'
import { findPipelineRef } from '../pipelines/create/find-ref.ts'
import type { PipelineRef } from '../pipelines/create/known-variables.ts'
import { type MadePlan, makePlan } from '../pipelines/create/make-plan.ts'

export const lintedJobEntity = z.strictObject({
  name: z.string(),
  stage: z.string(),
  before_script: z.array(z.string()),
  script: z.array(z.string()),
  after_script: z.array(z.string()),
  tag_list: z.array(z.string()),
  only: z.unknown(),
  except: z.unknown(),
  environment: z.unknown(),
  when: z.string(),
  allow_failure: z.boolean(),
  needs: z.unknown(),
})

/** What is wrong with a configuration, and what it means with its includes (docs/contract/D §1.20). */
export const lintEntity = z.strictObject({
  valid: z.boolean(),
  errors: z.array(z.string()),
  warnings: z.array(z.string()),
  merged_yaml: z.string().nullable(),
  includes: z.array(
    z.strictObject({
      type: z.string(),
      location: z.string(),
      blob: z.string().nullable(),
      raw: z.string().nullable(),
      extra: z.record(z.string(), z.unknown()),
      context_project: z.string(),
      context_sha: z.string(),
    }),
  ),
  jobs: z.array(lintedJobEntity).optional(),
})

export interface LintInput {
  /** The text to look at; the project's own file at the ref without it. */
  readonly content: string | undefined
  /** A branch, tag or commit whose file it is, where that is another than `ref`. */
  readonly contentRef?: string | undefined
  readonly ref: string
  readonly dryRun: boolean
  readonly includeJobs: boolean
}

/** Looks at a configuration as for a pipeline of a ref; a dry run also asks its rules whether there would be one. */
export async function lintConfig(
  ctx: Ctx,
  project: Project,
  input: LintInput,
): Promise<z.input<typeof lintEntity>> {
  try {
    const at = await findLintedRef(ctx, project, input.ref)
    const from = input.contentRef && (await findLintedRef(ctx, project, input.contentRef))
    const made = await makePlan(ctx, project, at, {
      ref: input.ref,
      source: 'push',
      variables: [],
      inputs: {},
      content: input.content,
      configSha: from ? from.commit.id : undefined,
      secrets: await secretsFor(ctx, project, at),
    })
    const errors = input.dryRun ? refusalsOf(made) : []
    return {
      valid: errors.length === 0,
      errors,
      warnings: [],
      merged_yaml: await writeYaml(resolveReferences(resolveExtends(made.merged)), callerKey(ctx)),
      includes: made.included.map((one) => presentIncluded(ctx, one)),
      ...(input.includeJobs ? { jobs: jobsOf(made, input.dryRun) } : {}),
    }
  } catch (error) {
    const errors = faultsOf(error)
    return { valid: false, errors, warnings: [], merged_yaml: null, includes: [] }
  }
}

/** A branch or tag; or any other commit, as on the default branch but without what is protected. */
async function findLintedRef(ctx: Ctx, project: Project, given: string): Promise<PipelineRef> {
  const repo = ctx.git.open(project.id)
  const commit = isObjectId(given) ? await ifFound(readCommit(repo, given)) : undefined
  if (!commit) return await findPipelineRef(ctx, project, given)
  const none = { tag: false, protected: false, beforeSha: undefined, comparedTo: undefined }
  return { ...none, ref: defaultRef(project), commit }
}

/**
 * Which variables a look at a configuration uses: what it says of its includes may show them, so that they are those
 * that a pipeline of the caller's own on the ref would get.
 */
async function secretsFor(ctx: Ctx, project: Project, at: PipelineRef) {
  if (!mayRunPipelines(ctx, project)) return 'none'
  return !at.protected || (await mayRunOn(ctx, project, at)) ? 'all' : 'unprotected'
}

export function presentIncluded(
  ctx: Pick<Ctx, 'config'>,
  { type, location, path, place, context }: Included,
): z.input<typeof lintEntity>['includes'][number] {
  const name = path?.split('/').map(encodeURIComponent).join('/')
  const address = (kind: 'blob' | 'raw') =>
    name ? `${ctx.config.externalUrl}/${place.project}/-/${kind}/${place.sha}/${name}` : null
  return {
    type,
    location,
    blob: address('blob'),
    raw: type === 'remote' ? location : address('raw'),
    extra: {},
    context_project: context.project,
    context_sha: context.sha,
  }
}

/** What is wrong with a configuration; throws what is no fault of it. */
export function faultsOf(error: unknown): string[] {
  if (!(error instanceof Problem)) throw error
  return [...(error.fields?.base ?? [error.message])]
}

function refusalsOf({ plan }: MadePlan): string[] {
  if (plan === 'workflow') return ['Pipeline filtered out by workflow rules.']
  return plan === 'no_jobs' ? ['No stages / jobs for this pipeline.'] : []
}

type LintedJob = z.input<typeof lintedJobEntity>

/** All jobs of a configuration; of a dry run those of the pipeline that there would be, by their stages. */
function jobsOf({ config, plan, hide }: MadePlan, dryRun: boolean): LintedJob[] {
  if (!dryRun) return config.jobs.map(presentLintedJob)
  if (typeof plan === 'string') return []
  return plan.stages.flatMap((stage) =>
    plan.jobs.filter((job) => job.stage === stage).map((job) => presentPlannedJob(job, hide)),
  )
}

/** Names of environments and tags may be made of masked values. */
function presentPlannedJob(job: PlannedJob, hide: MadePlan['hide']): LintedJob {
  const { name } = job.environment ?? {}
  return {
    ...commonOf({ ...job, tags: job.tags.map(hide) }),
    only: null,
    except: null,
    environment: typeof name === 'string' ? hide(name) : null,
    when: job.when,
    allow_failure: job.allowFailure,
    needs: null,
  }
}

function commonOf(job: Pick<PlannedJob, 'name' | 'stage' | 'options' | 'tags'>) {
  const lines = (key: string) => {
    const value = job.options[key]
    return Array.isArray(value) ? value.map(String) : []
  }
  return {
    name: job.name,
    stage: job.stage,
    before_script: lines('before_script'),
    script: lines('script'),
    after_script: lines('after_script'),
    tag_list: [...job.tags],
  }
}

export function presentLintedJob(job: CompiledConfig['jobs'][number]): LintedJob {
  return {
    ...commonOf(job),
    only: job.only ?? null,
    except: job.except ?? null,
    environment: job.environment ?? null,
    when: job.when,
    allow_failure: job.allowFailure ?? (job.when === 'manual' && job.rules === undefined),
    needs: job.needs?.map(({ job: name, artifacts }) => ({ name, artifacts })) ?? null,
  }
}
