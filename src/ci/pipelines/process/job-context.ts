import { type Project, withProjectRole } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import { readCommit } from '../../../git/objects/commit.ts'
import { projectSetting } from '../../../projects/projects/settings.ts'
import { nameOfAll } from '../../config/parallel.ts'
import { VariableScope } from '../../config/variable-scope.ts'
import { readEnvironment } from '../../environments/follow-jobs.ts'
import { collectVariables } from '../../variables/collect.ts'
import { knownVariables } from '../create/known-variables.ts'
import type { RequestOrigin } from '../create/pipeline-input.ts'
import { listRunVariables, writtenOf } from '../create/run-variables.ts'
import { slugOf } from '../create/slug.ts'
import { listDotenv } from '../dependency-queries.ts'
import { DOTENV_PURPOSE } from '../dotenv-purpose.ts'
import { artifactSourcesOf } from './artifact-sources.ts'
import type { LoadedJob } from './running.ts'

type Pairs = readonly (readonly [string, string])[]

/** What is known of a job by its commit, its project and its pipeline (docs/contract/D §5.6). */
export async function predefinedOf(ctx: Ctx, loaded: LoadedJob): Promise<Map<string, string>> {
  const project = await withProjectRole(ctx, loaded.project)
  const { pipeline } = loaded
  const known = await knownVariables(ctx, project, {
    ref: pipeline.ref,
    tag: pipeline.tag === 1,
    protected: pipeline.protected === 1,
    commit: await readCommit(ctx.git.open(project.id), pipeline.sha),
    beforeSha: pipeline.before_sha ?? undefined,
    comparedTo: undefined,
    source: pipeline.source,
    configPath: configPathOf(ctx, project),
    request: requestOf(pipeline),
  })
  const more = [
    ...Object.entries(atStartOf(pipeline)),
    ...pipelinePairs(ctx, loaded),
    ...jobPairs(ctx, loaded),
  ]
  for (const [key, value] of more) known.set(key, value)
  return known
}

function configPathOf(ctx: Ctx, project: Project): string {
  const chosen = projectSetting(project, 'ci_config_path')
  return (
    chosen || ctx.settings.get('default_ci_config_path') || (ctx.config.vendor.ciFiles[0] ?? '')
  )
}

function atStartOf({ request_variables }: LoadedJob['pipeline']): Readonly<Record<string, string>> {
  return JSON.parse(request_variables) as Record<string, string> // written by us
}

/** The merge request that a pipeline is for, as it began. */
export function requestOf(pipeline: LoadedJob['pipeline']): RequestOrigin | undefined {
  if (pipeline.merge_request_id === null) return undefined
  return {
    id: pipeline.merge_request_id,
    event: pipeline.merge_request_event ?? 'detached',
    sourceSha: pipeline.source_sha ?? pipeline.sha,
    targetSha: pipeline.target_sha ?? undefined,
    variables: new Map(
      Object.entries(atStartOf(pipeline)).filter(([key]) => key.startsWith('CI_MERGE_REQUEST_')),
    ),
  }
}

function pipelinePairs(ctx: Ctx, { pipeline, project }: LoadedJob): Pairs {
  const url = `${ctx.config.externalUrl}/${project.full_path}`
  return [
    ['CI_PIPELINE_ID', String(pipeline.id)],
    ['CI_PIPELINE_IID', String(pipeline.iid)],
    ['CI_PIPELINE_URL', `${url}/-/pipelines/${pipeline.id}`],
    ['CI_PIPELINE_CREATED_AT', pipeline.created_at],
    ...(pipeline.name === null ? [] : [['CI_PIPELINE_NAME', pipeline.name] as const]),
    ...(pipeline.source === 'trigger' ? [['CI_PIPELINE_TRIGGERED', 'true'] as const] : []),
  ]
}

function jobPairs(ctx: Ctx, { job, project }: LoadedJob): Pairs {
  return [
    ['CI_JOB_ID', String(job.id)],
    ['CI_JOB_NAME', job.name],
    ['CI_JOB_NAME_SLUG', slugOf(job.name)],
    ['CI_JOB_GROUP_NAME', nameOfAll(job.name)],
    ['CI_JOB_STAGE', job.stage],
    ['CI_JOB_URL', `${ctx.config.externalUrl}/${project.full_path}/-/jobs/${job.id}`],
    ...(job.run_when === 'manual' ? [['CI_JOB_MANUAL', 'true'] as const] : []),
  ]
}

/** What earlier jobs have handed on by dotenv reports to one that comes after them. */
export async function dotenvOf(ctx: Ctx, loaded: LoadedJob): Promise<Pairs> {
  const sources = await artifactSourcesOf(ctx, loaded)
  const rows = await listDotenv(
    ctx.db,
    sources.map(({ id }) => id),
  )
  return rows.map((row) => [row.key, ctx.vault.open(row.sealed_value, DOTENV_PURPOSE)])
}

/**
 * All that a bridge may name in what it passes on, and what of it lies over the variables of the configuration
 * (docs/contract/D §5.5).
 */
export async function bridgeVariables(ctx: Ctx, loaded: LoadedJob) {
  const { job, pipeline, project } = loaded
  const run = (await listRunVariables(ctx, pipeline.id, job.sealed_variables)).map(writtenOf)
  const overriding = [
    ...(await dotenvOf(ctx, loaded)).map(([key, value]) => ({ key, value, raw: false })),
    ...(await collectVariables(ctx, project, {
      protected: pipeline.protected === 1,
      environment: job.environment === null ? undefined : readEnvironment(job.environment).name,
    })),
    ...run,
  ]
  return {
    known: new VariableScope(await predefinedOf(ctx, loaded), overriding),
    overriding: new Set(overriding.map(({ key }) => key)),
    /** Names of those that the pipeline was started with. */
    ofRun: new Set(run.map(({ key }) => key)),
  }
}
