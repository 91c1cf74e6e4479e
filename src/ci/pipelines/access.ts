import { isAdmin } from '../../access/actor.ts'
import { type Condition, condition } from '../../access/conditions.ts'
import { mayInProject } from '../../access/decide.ts'
import { projectRecord } from '../../access/records.ts'
import { Role } from '../../access/roles.ts'
import { type Access, onProject, type Project } from '../../access/subjects.ts'
import { forbidden, invalid, notFound, unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { id } from '../../http/params.ts'
import { projectSetting } from '../../projects/projects/settings.ts'
import { branchStates, passesTagProtection } from '../../repositories/refs/branch-state.ts'
import { mayMergeBranch } from '../../repositories/refs/check-rules.ts'
import { findById } from '../../review/merge-requests/queries.ts'
import { mayDeploy, placeOfJob } from '../environments/access.ts'
import { findPipelineRef } from './create/find-ref.ts'
import type { PipelineRef } from './create/known-variables.ts'
import { findPipeline, type PipelineRow } from './queries.ts'

/** Whether the caller may read pipelines and jobs: Reporters, and everybody while they are public (docs/contract/D §2.2). */
export function mayReadBuilds(ctx: Pick<Ctx, 'actor'>, project: Project): boolean {
  const isReporter = project.role >= Role.reporter || isAdmin(ctx.actor)
  if (isReporter) return mayInProject(ctx.actor, project, 'read_builds')
  return (
    projectSetting(project, 'public_jobs') && mayInProject(ctx.actor, project, 'read_public_builds')
  )
}

/** The project of `:id`, for those who may read its pipelines. */
export function onBuilds(
  options: { readonly signedIn?: boolean } = {},
): Access<{ project: Project }> {
  const visible = onProject('read_project', options)
  return {
    ...visible,
    needs: 'read_public_builds',
    async find(request) {
      const found = await visible.find(request)
      if (mayReadBuilds(request.ctx, found.project)) return found
      throw request.ctx.actor.kind === 'anonymous' ? unauthorized() : forbidden()
    },
  }
}

/** The pipeline of a project, or 404. */
export async function getPipeline(
  ctx: Pick<Ctx, 'db'>,
  project: Pick<Project, 'id'>,
  id: number,
): Promise<PipelineRow> {
  const row = await findPipeline(ctx.db, id)
  if (row?.project_id !== project.id) throw notFound()
  return row
}

/** A pipeline of the project, for those who may do a thing to it. */
export const onPipeline = projectRecord('create_pipeline', {
  params: { pipeline_id: id() },
  find: async ({ ctx, project, params }) => ({
    pipeline: await getPipeline(ctx, project, params.pipeline_id),
  }),
  updatedAt: ({ pipeline }) => pipeline.updated_at,
})

/** Whether the caller may run and change what runs on a ref: protected ones take push or merge right (docs/contract/D §2.2). */
export async function mayRunOn(
  ctx: Ctx,
  project: Project,
  at: { readonly ref: string; readonly tag: boolean },
): Promise<boolean> {
  if (at.tag) return await passesTagProtection(ctx, project, at.ref)
  const state = (await branchStates(ctx, project))(at.ref)
  return !state.protected || state.can_push || (await mayMergeBranch(ctx, project, at.ref))
}

/** Whether the caller may run what a merge request between two branches of the project would run on both. */
export async function mayRunOnBoth(
  ctx: Ctx,
  project: Project,
  request: { readonly source_branch: string; readonly target_branch: string },
): Promise<boolean> {
  const { source_branch: source, target_branch: target } = request
  return (
    (await mayRunOn(ctx, project, { ref: source, tag: false })) &&
    (await mayRunOn(ctx, project, { ref: target, tag: false }))
  )
}

type OnRefPipeline = Pick<PipelineRow, 'ref' | 'tag' | 'protected' | 'merge_request_id'>

/**
 * Whether the caller may run jobs of a pipeline. What one between protected branches may, its ref does not say: that is
 * the merge request's own.
 */
export async function mayRunAgain(
  ctx: Ctx,
  project: Project,
  pipeline: OnRefPipeline,
): Promise<boolean> {
  const { ref, tag, merge_request_id: requestId } = pipeline
  const ofRequest = requestId !== null || ref.startsWith('refs/merge-requests/')
  if (!ofRequest || pipeline.protected === 0) {
    return await mayRunOn(ctx, project, { ref, tag: tag === 1 })
  }
  const request = requestId === null ? undefined : await findById(ctx.db, requestId)
  if (request) return await mayRunOnBoth(ctx, project, request)
  return mayInProject(ctx.actor, project, 'admin_build')
}

interface OnRef {
  readonly ctx: Ctx
  readonly project: Project
  readonly pipeline: OnRefPipeline
}

/** What runs on a protected ref is for those who may push or merge into it (docs/contract/D §2.2). */
export const runsOnRef: Condition<OnRef> = condition(
  'may run pipelines on the ref',
  async ({ ctx, project, pipeline }) => (await mayRunAgain(ctx, project, pipeline)) || forbidden(),
)

/** A job with an environment is started by those alone whom the protections of its environment name (docs/contract/B-resolved §5.1). */
export const deploysThere: Condition<{
  readonly ctx: Ctx
  readonly project: Project
  readonly job: { readonly environment: string | null }
}> = condition(
  'environment of the job: may deploy to it',
  async ({ ctx, project, job: { environment } }) => {
    if (environment === null) return true
    const { id: project_id, namespace_id } = project
    const place = await placeOfJob(ctx, { project_id, namespace_id, environment })
    return (await mayDeploy(ctx, place)) || forbidden()
  },
)

/** The ref that a request names, where it names one: the caller may run pipelines on it (docs/contract/D §2.2). */
export const runsOnGivenRef: Condition<{
  readonly ctx: Ctx
  readonly project: Project
  readonly body: { readonly ref?: string | undefined }
}> = condition('ref: may run pipelines on it', async ({ ctx, project, body }) => {
  if (body.ref === undefined) return true
  const found = await findPipelineRef(ctx, project, body.ref).catch(() => undefined)
  // A ref that is not there is refused as such, later.
  return !found || (await mayRunOn(ctx, project, found)) || forbidden()
})

/**
 * The ref of a pipeline that a bridge or a trigger token asks for, as whoever they act for: 400 when there is none, 403
 * when that user may not run pipelines on it. No declaration of an endpoint can know that user.
 */
export async function findRunnableRef(
  ctx: Ctx,
  project: Project,
  given: string,
): Promise<PipelineRef> {
  const at = await findPipelineRef(ctx, project, given)
  if (!(await mayRunOn(ctx, project, at))) throw forbidden()
  return at
}

/** Whether the caller may run pipelines of a project at all. */
export function mayRunPipelines(ctx: Pick<Ctx, 'actor'>, project: Project): boolean {
  return mayInProject(ctx.actor, project, 'create_pipeline')
}

/** Whether configurations of the caller may include files of a project. */
export function mayIncludeFrom(ctx: Pick<Ctx, 'actor'>, project: Project): boolean {
  return mayInProject(ctx.actor, project, 'download_code')
}

const LEAST_ROLES = {
  no_one_allowed: Role.admin,
  developer: Role.developer,
  maintainer: Role.maintainer,
  owner: Role.owner,
} as const

/** Whether the caller may give variables to the pipelines that they run (docs/contract/D §1.15). */
function maySetRunVariables(project: Project): boolean {
  const asked = projectSetting(project, 'ci_pipeline_variables_minimum_override_role')
  const restricted = projectSetting(project, 'restrict_user_defined_variables')
  const least = restricted ? Math.max(Role.maintainer, LEAST_ROLES[asked]) : LEAST_ROLES[asked]
  return project.role >= least
}

const REFUSED_VARIABLES = 'Insufficient permissions to set pipeline variables'

/** Why a pipeline that an event brings cannot have variables of its own; undefined when it may, or has none. */
export function refusedVariables(
  project: Project,
  variables: readonly unknown[],
): string | undefined {
  return variables.length === 0 || maySetRunVariables(project) ? undefined : REFUSED_VARIABLES
}

/** Variables of a run are for the role that the project asks for (docs/contract/D §1.15). */
export const setsRunVariables: Condition<{
  readonly project: Project
  readonly body: { readonly variables?: readonly unknown[] | undefined }
}> = condition(
  'variables: role of ci_pipeline_variables_minimum_override_role',
  ({ project, body: { variables = [] } }) =>
    variables.length === 0 || maySetRunVariables(project) || invalid({ base: [REFUSED_VARIABLES] }),
)

/** The same for the variables that somebody plays a single job with. */
export const setsJobVariables: Condition<{
  readonly project: Project
  readonly body: { readonly job_variables_attributes?: readonly unknown[] | undefined }
}> = condition(
  'job_variables_attributes: role of ci_pipeline_variables_minimum_override_role',
  ({ project, body: { job_variables_attributes: variables = [] } }) =>
    variables.length === 0 || maySetRunVariables(project) || forbidden(),
)
