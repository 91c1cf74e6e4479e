import type { Subject } from '../../access/decide.ts'
import type { Ctx } from '../../ctx.ts'
import { findTokenForJobs } from '../../projects/deploy-tokens/token-for-jobs.ts'
import { projectSetting } from '../../projects/projects/settings.ts'
import { findRelease } from '../../publishing/releases/queries.ts'
import { isMap, type ValueMap } from '../config/values.ts'
import { VariableScope } from '../config/variable-scope.ts'
import type { Variables } from '../config/variables.ts'
import { readEnvironment } from '../environments/follow-jobs.ts'
import { environmentSlug, tierOf } from '../environments/naming.ts'
import { findEnvironmentByName } from '../environments/queries.ts'
import { listRunVariables, writtenOf } from '../pipelines/create/run-variables.ts'
import { slugOf } from '../pipelines/create/slug.ts'
import { dotenvOf, predefinedOf } from '../pipelines/process/job-context.ts'
import type { LoadedJob } from '../pipelines/process/running.ts'
import { collectVariables } from '../variables/collect.ts'
import { identityTokens } from './identity-tokens.ts'
import type { PayloadInput } from './payload-input.ts'
import { environmentName, type SentVariable } from './sent-variable.ts'

interface Given extends PayloadInput {
  readonly options: ValueMap
  readonly settings: Pick<Subject, 'settings'>
}

/**
 * Every variable of a job, the one that counts of each name, in the order of docs/contract/D §5.5, and the same as texts of
 * the job name them. Runners put a value into another once; what is named in between is put in here.
 */
export async function jobVariables(
  ctx: Ctx,
  loaded: LoadedJob,
  given: Given,
): Promise<{ readonly sent: readonly SentVariable[]; readonly known: Variables }> {
  const { job, pipeline, project } = loaded
  const environment = environmentName(job.environment)
  const yaml = JSON.parse(job.yaml_variables) as readonly YamlOne[] // written by us
  const all = [
    ...(await predefined(ctx, loaded, given)),
    ...(await environmentVariables(ctx, loaded)),
    ...yaml.map(({ key, value, raw }) => open(key, value, { raw })),
    ...(await dotenvOf(ctx, loaded)).map(([key, value]) => open(key, value)),
    ...(
      await collectVariables(ctx, project, { protected: pipeline.protected === 1, environment })
    ).map((one) => ({ ...one, public: false })),
    ...(await listRunVariables(ctx, pipeline.id, job.sealed_variables)).map((one) => ({
      ...open(one.key, one.value),
      ...writtenOf(one),
    })),
    ...(await identityTokens(ctx, loaded, given.options.id_tokens)),
  ]
  const last = new Map<string, SentVariable>()
  for (const one of all) {
    last.delete(one.key)
    last.set(one.key, one)
  }
  const known = new VariableScope(undefined, all)
  const sent = [...last.values()].map((one) => ({ ...one, value: known.sent(one.key) ?? '' }))
  return { sent, known }
}

interface YamlOne {
  readonly key: string
  readonly value: string
  readonly raw: boolean
}

function open(key: string, value: string, more: { readonly raw?: boolean } = {}): SentVariable {
  return { key, value, public: true, masked: false, file: false, raw: more.raw ?? false }
}

function secret(key: string, value: string): SentVariable {
  return { key, value, public: false, masked: true, file: false, raw: true }
}

async function environmentVariables(ctx: Ctx, { job }: LoadedJob): Promise<SentVariable[]> {
  if (job.environment === null) return []
  const given = readEnvironment(job.environment)
  const { url, action } = given
  const environment = await findEnvironmentByName(ctx.db, job.project_id, given.name)
  return [
    open('CI_ENVIRONMENT_NAME', given.name, { raw: true }),
    open('CI_ENVIRONMENT_SLUG', environment?.slug ?? environmentSlug(given.name)),
    open('CI_ENVIRONMENT_ACTION', typeof action === 'string' ? action : 'start'),
    open('CI_ENVIRONMENT_TIER', environment?.tier ?? tierOf(given.name, given.deployment_tier)),
    ...(environment ? [open('CI_ENVIRONMENT_ID', String(environment.id))] : []),
    ...(typeof url === 'string' ? [open('CI_ENVIRONMENT_URL', url)] : []),
  ]
}

/** What the release of a tag says, as far as variables go. */
async function releaseVariables(ctx: Ctx, { pipeline }: LoadedJob): Promise<SentVariable[]> {
  if (pipeline.tag === 0) return []
  const release = await findRelease(ctx.db, pipeline.project_id, pipeline.ref)
  const description = release?.description ?? ''
  if (description === '') return []
  return [open('CI_RELEASE_DESCRIPTION', description.slice(0, LONGEST_DESCRIPTION), { raw: true })]
}

const LONGEST_DESCRIPTION = 1024

async function predefined(ctx: Ctx, loaded: LoadedJob, given: Given): Promise<SentVariable[]> {
  const { job } = loaded
  return [
    ...[...(await predefinedOf(ctx, loaded))].map(([key, value]) =>
      open(key, value, { raw: true }),
    ),
    ...ownVariables(ctx, loaded, given),
    ...(await releaseVariables(ctx, loaded)),
    secret('CI_JOB_TOKEN', given.token),
    open('CI_REGISTRY_USER', ctx.config.vendor.jobTokenUsers[0] ?? '', { raw: true }),
    secret('CI_REGISTRY_PASSWORD', given.token),
    ...(await deployVariables(ctx, loaded)),
    { ...secret('CI_REPOSITORY_URL', repositoryUrl(ctx, loaded, given.token)), masked: false },
    open('GIT_DEPTH', String(projectSetting(given.settings, 'ci_default_git_depth') ?? 0)),
    ...(job.node_total === null
      ? [open('CI_NODE_TOTAL', '1')]
      : [
          open('CI_NODE_INDEX', String(job.node_index)),
          open('CI_NODE_TOTAL', String(job.node_total)),
        ]),
  ]
}

/** The deploy token that the project has for its jobs. */
async function deployVariables(ctx: Ctx, { project }: LoadedJob): Promise<SentVariable[]> {
  const token = await findTokenForJobs(ctx, project)
  if (!token) return []
  const { username, secret: password } = token
  return [open('CI_DEPLOY_USER', username, { raw: true }), secret('CI_DEPLOY_PASSWORD', password)]
}

function repositoryUrl(ctx: Ctx, { project }: LoadedJob, token: string): string {
  const url = new URL(`${ctx.config.externalUrl}/${project.full_path}.git`)
  url.username = ctx.config.vendor.jobTokenUsers[0] ?? ''
  url.password = token
  return url.toString()
}

function ownVariables(ctx: Ctx, loaded: LoadedJob, given: Given): SentVariable[] {
  const { user } = loaded
  const now = ctx.now()
  const image = isMap(given.options.image) ? given.options.image.name : given.options.image
  const people = user
    ? [
        ['USER_ID', String(user.id)],
        ['USER_LOGIN', user.username],
        ['USER_NAME', user.name],
        ['USER_EMAIL', user.email],
      ]
    : []
  return [
    open('CI_JOB_STARTED_AT', now),
    open('CI_JOB_STARTED_AT_SLUG', slugOf(now)),
    open('CI_JOB_TIMEOUT', String(given.timeout)),
    ...(typeof image === 'string' ? [open('CI_JOB_IMAGE', image)] : []),
    open('CI_RUNNER_ID', String(given.runner.id)),
    open('CI_RUNNER_DESCRIPTION', given.runner.description ?? '', { raw: true }),
    open('CI_RUNNER_SHORT_TOKEN', given.runner.token_start, { raw: true }),
    open('CI_RUNNER_TAGS', given.runner.tags, { raw: true }),
    ...people.flatMap(([name = '', value = '']) =>
      ctx.config.vendor.variableNames(name).map((key) => open(key, value, { raw: true })),
    ),
  ]
}
