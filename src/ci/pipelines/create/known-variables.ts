import { featureLevel } from '../../../access/features.ts'
import type { Project } from '../../../access/subjects.ts'
import { apiVersion, productVersion } from '../../../base/version.ts'
import type { Ctx } from '../../../ctx.ts'
import { findTag } from '../../../git/refs/tags.ts'
import type { Commit } from '../../../git/types.ts'
import { knownLanguages } from '../../../projects/projects/facts/known-languages.ts'
import { projectSetting } from '../../../projects/projects/settings.ts'
import { topicsOf } from '../../../projects/projects/topics/topics-of.ts'
import { isFrozen } from '../../environments/freeze.ts'
import { listOpenRequestPaths } from '../request-queries.ts'
import type { RequestOrigin } from './pipeline-input.ts'
import { slugOf } from './slug.ts'

/** The commit and ref of a pipeline. */
export interface PipelineRef {
  /** A branch or tag, short. */
  readonly ref: string
  readonly tag: boolean
  readonly protected: boolean
  readonly commit: Commit
  readonly beforeSha: string | undefined
  /** What `rules:changes` compares with: where a pushed branch was, or where a merge request began. */
  readonly comparedTo: string | undefined
}

const noCommit = '0'.repeat(40)
const LONGEST_MESSAGE = 10_000

/** Variables that are known before a pipeline exists, and so may decide about it (docs/contract/D §5.6, marked p). */
export async function knownVariables(
  ctx: Ctx,
  project: Project,
  at: PipelineRef & {
    readonly source: string
    readonly configPath: string
    readonly request?: RequestOrigin | undefined
  },
): Promise<Map<string, string>> {
  const requests = at.tag ? [] : await listOpenRequestPaths(ctx.db, project.id, branchOf(at))
  const { vendor } = ctx.config
  const vendorFlags = vendor.variableNames('CI').map((name) => [name, 'true'] as const)
  // What a licence adds: there is none. Templates look here for scanners, which are not there either.
  const features = vendor.variableNames('FEATURES').map((name) => [name, ''] as const)
  return new Map([
    ['CI', 'true'],
    ...vendorFlags,
    ...features,
    ...serverVariables(ctx),
    ...projectVariables(ctx, project, await topicsOf(ctx, project.id)),
    ['CI_PROJECT_REPOSITORY_LANGUAGES', (await knownLanguages(ctx, project)).join(',')],
    ...commitVariables(at),
    ...(await tagVariables(ctx, project, at)),
    ...registryVariables(ctx, project),
    ['CI_CONFIG_PATH', at.configPath],
    ['CI_PIPELINE_SOURCE', at.source],
    ...(at.request?.variables ?? []),
    ...((await isFrozen(ctx, project.id)) ? [['CI_DEPLOY_FREEZE', 'true'] as const] : []),
    ...(requests.length > 0 ? [['CI_OPEN_MERGE_REQUESTS', requests.join(',')] as const] : []),
  ])
}

async function tagVariables(ctx: Ctx, project: Project, at: PipelineRef): Promise<Pairs> {
  if (!at.tag) return []
  const found = await findTag(ctx.git.open(project.id), at.ref)
  const message = found?.tag?.message.replace(/\n+$/, '') ?? ''
  return [['CI_COMMIT_TAG_MESSAGE', message]]
}

/** Where images are pushed, and what those of the project begin with. */
function registryVariables(ctx: Ctx, project: Project): Pairs {
  if (featureLevel(project.settings, 'container_registry') === 'disabled') return []
  const { host } = new URL(ctx.config.externalUrl)
  return [
    ['CI_REGISTRY', host],
    ['CI_REGISTRY_IMAGE', `${host}/${project.full_path.toLowerCase()}`],
  ]
}

type Pairs = readonly (readonly [string, string])[]

function serverVariables(ctx: Ctx): Pairs {
  const url = new URL(ctx.config.externalUrl)
  const [major = '', minor = '', patch = ''] = apiVersion.split(/[.-]/)
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return [
    ['CI_API_V4_URL', `${ctx.config.externalUrl}/api/v4`],
    ['CI_API_GRAPHQL_URL', `${ctx.config.externalUrl}/api/graphql`],
    ['CI_SERVER', 'yes'],
    ['CI_SERVER_URL', ctx.config.externalUrl],
    ['CI_SERVER_HOST', url.hostname],
    ['CI_SERVER_FQDN', url.host],
    ['CI_SERVER_PORT', port],
    ['CI_SERVER_PROTOCOL', url.protocol.replace(':', '')],
    ['CI_SERVER_NAME', 'Gitstead'],
    ['CI_SERVER_VERSION', apiVersion],
    ['CI_SERVER_VERSION_MAJOR', major],
    ['CI_SERVER_VERSION_MINOR', minor],
    ['CI_SERVER_VERSION_PATCH', patch],
    ['CI_SERVER_REVISION', productVersion],
    // Templates name no registry of their own: their images are looked for where the instance keeps its own.
    ['CI_TEMPLATE_REGISTRY_HOST', url.host],
  ]
}

function projectVariables(ctx: Ctx, project: Project, topics: readonly string[]): Pairs {
  const branch = project.default_branch ?? ''
  const [root = ''] = project.full_path.split('/')
  return [
    ['CI_PROJECT_ID', String(project.id)],
    ['CI_PROJECT_NAME', project.path],
    ['CI_PROJECT_TITLE', project.name],
    ['CI_PROJECT_PATH', project.full_path],
    ['CI_PROJECT_PATH_SLUG', slugOf(project.full_path)],
    ['CI_PROJECT_NAMESPACE', project.namespace_full_path],
    ['CI_PROJECT_NAMESPACE_ID', String(project.namespace_id)],
    ['CI_PROJECT_NAMESPACE_SLUG', slugOf(project.namespace_full_path)],
    ['CI_PROJECT_ROOT_NAMESPACE', root],
    ['CI_PROJECT_URL', `${ctx.config.externalUrl}/${project.full_path}`],
    ['CI_PROJECT_VISIBILITY', project.visibility],
    ['CI_PROJECT_DESCRIPTION', project.description ?? ''],
    [
      'CI_PROJECT_CLASSIFICATION_LABEL',
      projectSetting(project, 'external_authorization_classification_label') ?? '',
    ],
    ['CI_PROJECT_TOPICS', topics.join(',').toLowerCase()],
    ['CI_DEFAULT_BRANCH', branch],
    ['CI_DEFAULT_BRANCH_SLUG', slugOf(branch)],
  ]
}

type OfRequest = { readonly request?: RequestOrigin | undefined }

/** The branch or tag; for a merge request the branch that it brings. */
function branchOf({ ref, request }: PipelineRef & OfRequest): string {
  return request?.variables.get('CI_MERGE_REQUEST_SOURCE_BRANCH_NAME') ?? ref
}

function commitVariables(at: PipelineRef & OfRequest): Pairs {
  const { commit } = at
  const ref = branchOf(at)
  const [title = '', ...rest] = commit.message.split('\n')
  const description = rest.join('\n').trim()
  return [
    ['CI_COMMIT_SHA', commit.id],
    ['CI_COMMIT_SHORT_SHA', commit.id.slice(0, 8)],
    ['CI_COMMIT_BEFORE_SHA', at.beforeSha ?? noCommit],
    ...(at.request ? [] : [[at.tag ? 'CI_COMMIT_TAG' : 'CI_COMMIT_BRANCH', ref] as const]),
    ['CI_COMMIT_REF_NAME', ref],
    ['CI_COMMIT_REF_SLUG', slugOf(ref)],
    ['CI_COMMIT_REF_PROTECTED', String(at.protected)],
    ['CI_COMMIT_TITLE', title],
    ['CI_COMMIT_MESSAGE', commit.message.slice(0, LONGEST_MESSAGE)],
    ['CI_COMMIT_MESSAGE_IS_TRUNCATED', String(commit.message.length > LONGEST_MESSAGE)],
    ['CI_COMMIT_DESCRIPTION', description.slice(0, LONGEST_MESSAGE)],
    ['CI_COMMIT_AUTHOR', `${commit.author.name} <${commit.author.email}>`],
    ['CI_COMMIT_TIMESTAMP', commit.committer.date],
  ]
}
