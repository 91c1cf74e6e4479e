import type { Subject } from '../../access/decide.ts'
import type { Ctx } from '../../ctx.ts'
import { projectSetting } from '../../projects/projects/settings.ts'
import { budget } from '../config/budget.ts'
import { fillJobInputs } from '../config/job-inputs.ts'
import { MOST_CHARACTERS, type ValueMap } from '../config/values.ts'
import { expandText, type Variables } from '../config/variables.ts'
import { noteEnvironmentUrl, readEnvironment } from '../environments/follow-jobs.ts'
import type { LoadedJob } from '../pipelines/process/running.ts'
import { dependencyOn, listDependencies } from './dependencies.ts'
import { foreignSources } from './foreign-needs.ts'
import { jobVariables } from './job-variables.ts'
import type { PayloadInput } from './payload-input.ts'
import { artifactsOf, cachesOf, hooksOf, imageOf, servicesOf, stepsOf } from './payload-parts.ts'
import { countBusy, countPending, findRootNamespaceId } from './queries.ts'
import type { SentVariable } from './sent-variable.ts'

/** What a runner gets of a job, in the form that stock runners read (docs/contract/D §1.24). */
export interface JobPayload extends Readonly<Record<string, unknown>> {
  readonly id: number
  readonly token: string
}

/** Reasons with which a runner may end a job. */
export const RUNNER_REASONS = [
  'script_failure',
  'runner_system_failure',
  'job_execution_timeout',
  'image_pull_failure',
  'unknown_failure',
  'runner_configuration_error',
  'runner_external_dependency_failure',
  'runner_interrupted',
  'api_failure',
  'missing_dependency_failure',
  'runner_unsupported',
  'stuck_or_timeout_failure',
  'trace_size_exceeded',
] as const

export interface BuiltPayload {
  readonly payload: JobPayload
  /** Values that the log of the job must not show. */
  readonly masks: readonly string[]
  /** Jobs of other pipelines and projects whose artifacts the runner may download. */
  readonly foreignSources: readonly number[]
}

/** The payload of a job; or the reason why the job cannot run. */
export async function buildPayload(
  ctx: Ctx,
  loaded: LoadedJob,
  input: PayloadInput,
): Promise<BuiltPayload | string> {
  const { job, pipeline, project } = loaded
  const options = fillJobInputs(JSON.parse(job.options) as ValueMap) // written by us
  const dependencies = await listDependencies(ctx, loaded, input.token)
  if (typeof dependencies === 'string') return dependencies
  const settings = { settings: JSON.parse(project.settings) as Subject['settings'] } // written by us
  const { sent: variables, known } = await jobVariables(ctx, loaded, {
    ...input,
    options,
    settings,
  })
  const spend = budget({ count: Number.POSITIVE_INFINITY, characters: MOST_CHARACTERS })
  const expand = (text: string) => {
    const found = expandText(text, known)
    spend(0, found.length)
    return found
  }
  const foreign = await foreignSources(ctx, loaded, options.foreign_needs, expand)
  if (!foreign) return 'missing_dependency_failure'
  const place = { projectId: project.id, sha: pipeline.sha }
  await noteUrl(ctx, loaded, expand)
  const payload = {
    id: job.id,
    token: input.token,
    allow_git_fetch: projectSetting(settings, 'build_git_strategy') === 'fetch',
    job_info: {
      id: job.id,
      name: job.name,
      stage: job.stage,
      pipeline_id: pipeline.id,
      project_id: project.id,
      project_name: project.path,
      project_full_path: project.full_path,
      namespace_id: project.namespace_id,
      root_namespace_id: await findRootNamespaceId(ctx.db, project.namespace_id),
      organization_id: 1,
      instance_id: new URL(ctx.config.externalUrl).host,
      user_id: job.user_id ?? 0,
      scoped_user_id: null,
      time_in_queue_seconds: secondsSince(job.queued_at, ctx.now()),
      project_jobs_running_on_instance_runners_count: String(await countBusy(ctx.db, project.id)),
      queue_size: await countPending(ctx.db),
      queue_depth: 0,
    },
    git_info: gitInfo(loaded, known),
    runner_info: { timeout: input.timeout, runner_session_url: null },
    inputs: [],
    variables,
    steps: stepsOf(options, input.timeout, expand),
    hooks: hooksOf(options),
    image: imageOf(options.image),
    services: servicesOf(options.services),
    artifacts: artifactsOf(options, ctx.settings.get('default_artifacts_expire_in')),
    cache: await cachesOf(ctx, place, options.cache, {
      protected: pipeline.protected === 1,
      separate: projectSetting(settings, 'ci_separated_caches'),
      expand,
    }),
    credentials: [],
    dependencies: [...dependencies, ...foreign.map((source) => dependencyOn(source, input.token))],
    features: {
      trace_sections: true,
      token_mask_prefixes: [
        ctx.config.vendor.tokenPrefix('personal'),
        ctx.config.vendor.tokenPrefix('job'),
      ],
      failure_reasons: RUNNER_REASONS,
      two_phase_job_commit: true,
    },
    policy_options: { execution_policy_job: false, policy_name: '' },
    suspend_options: {},
  }
  const masks = maskedValues(variables, input.token)
  return { payload, masks, foreignSources: foreign.map(({ id }) => id) }
}

/** An environment is reached where its job says, with the variables that the job has. */
async function noteUrl(
  ctx: Ctx,
  { job }: LoadedJob,
  expand: (text: string) => string,
): Promise<void> {
  if (job.environment === null) return
  const { name, url } = readEnvironment(job.environment)
  if (typeof url !== 'string') return
  await noteEnvironmentUrl(ctx, job.project_id, name, expand(url))
}

function secondsSince(from: string | null, now: string): number {
  return from === null ? 0 : Math.max(0, (Date.parse(now) - Date.parse(from)) / 1000)
}

/** Short values would blank out half of a log. */
const SHORTEST_MASK = 8

function maskedValues(variables: readonly SentVariable[], token: string): string[] {
  const masked = variables.filter((one) => one.masked).flatMap(({ value }) => value.split('\n'))
  const long = [token, ...masked].filter((value) => value.length >= SHORTEST_MASK)
  return [...new Set(long)].sort((one, other) => other.length - one.length)
}

/** What is fetched and checked out. Merge requests have no branch of their own. */
function gitInfo({ pipeline }: LoadedJob, variables: Variables) {
  const { ref, sha } = pipeline
  const depth = Number.parseInt(variables.get('GIT_DEPTH') ?? '', 10) || 0
  const own = `+refs/pipelines/${pipeline.id}:refs/pipelines/${pipeline.id}`
  return {
    repo_url: variables.get('CI_REPOSITORY_URL') ?? '',
    repo_object_format: sha.length === 64 ? 'sha256' : 'sha1',
    ref,
    sha,
    before_sha: pipeline.before_sha ?? '0'.repeat(sha.length),
    ref_type: pipeline.tag === 1 ? 'tag' : 'branch',
    refspecs: [own, ...refspecsOf(pipeline, depth)],
    depth,
    protected: pipeline.protected === 1,
  }
}

function refspecsOf({ ref, tag }: LoadedJob['pipeline'], depth: number): string[] {
  if (ref.startsWith('refs/')) return [`+${ref}:${ref}`]
  if (depth === 0) return ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*']
  return tag === 1
    ? [`+refs/tags/${ref}:refs/tags/${ref}`]
    : [`+refs/heads/${ref}:refs/remotes/origin/${ref}`]
}
