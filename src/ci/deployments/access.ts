import { isAdmin, userOf } from '../../access/actor.ts'
import { type Condition, condition } from '../../access/conditions.ts'
import { mayInProject } from '../../access/decide.ts'
import { projectRecord } from '../../access/records.ts'
import { Role } from '../../access/roles.ts'
import { type Access, type Project, refusalOf } from '../../access/subjects.ts'
import { forbidden, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { id } from '../../http/params.ts'
import { mayApprove, mayDeploy, placeOf } from '../environments/access.ts'
import { tierOf } from '../environments/naming.ts'
import {
  type DeploymentRow,
  type EnvironmentRow,
  findDeployment,
  findEnvironment,
  findEnvironmentByName,
} from '../environments/queries.ts'
import { mayRunAgain, onBuilds } from '../pipelines/access.ts'
import { findPipeline } from '../pipelines/queries.ts'
import { findStopJob } from './stop-environment.ts'

const environmentParams = { environment_id: id() }
const deploymentParams = { deployment_id: id() }

async function getEnvironment(ctx: Pick<Ctx, 'db'>, project: Project, environmentId: number) {
  const environment = await findEnvironment(ctx.db, environmentId)
  if (environment?.project_id !== project.id) throw notFound('Environment')
  return environment
}

async function getDeployment(ctx: Pick<Ctx, 'db'>, project: Project, deploymentId: number) {
  const deployment = await findDeployment(ctx.db, deploymentId)
  if (deployment?.project_id !== project.id) throw notFound('Deployment')
  return deployment
}

/** The project of `:id`, for those who may read its pipelines and its environments (docs/contract/D §2.2). */
export function onEnvironments(): Access<{ readonly project: Project }> {
  const builds = onBuilds()
  return {
    ...builds,
    needs: 'read_environments',
    async find(request) {
      const found = await builds.find(request)
      if (mayInProject(request.ctx.actor, found.project, 'read_environments')) return found
      throw refusalOf(request.ctx)
    },
  }
}

/** An environment for those who may read the project's environments. */
export function onEnvironment(): Access<
  { readonly project: Project; readonly environment: EnvironmentRow },
  'id' | 'environment_id'
> {
  const environments = onEnvironments()
  return {
    ...environments,
    params: { ...environments.params, ...environmentParams },
    async find(request) {
      const { project } = await environments.find(request)
      const { environment_id } = request.read(environmentParams)
      return { project, environment: await getEnvironment(request.ctx, project, environment_id) }
    },
  }
}

/** An environment for those who may change it: a protected one only for whom its protection names. */
export const onOwnEnvironment = projectRecord('admin_environments', {
  params: environmentParams,
  async find({ ctx, project, params }) {
    const environment = await getEnvironment(ctx, project, params.environment_id)
    if (!(await mayDeployTo(ctx, project, environment))) throw forbidden()
    return { environment }
  },
})

/** A deployment for those who may read the project's environments. */
export function onDeployment(): Access<
  { readonly project: Project; readonly deployment: DeploymentRow },
  'id' | 'deployment_id'
> {
  const environments = onEnvironments()
  return {
    ...environments,
    params: { ...environments.params, ...deploymentParams },
    async find(request) {
      const { project } = await environments.find(request)
      const { deployment_id } = request.read(deploymentParams)
      return { project, deployment: await getDeployment(request.ctx, project, deployment_id) }
    },
  }
}

/** A deployment for those who may deploy to its environment. */
export const onOwnDeployment = projectRecord('admin_environments', {
  params: deploymentParams,
  async find({ ctx, project, params }) {
    const deployment = await getDeployment(ctx, project, params.deployment_id)
    const environment = await getEnvironment(ctx, project, deployment.environment_id)
    if (!(await mayDeployTo(ctx, project, environment))) throw forbidden()
    return { deployment, environment }
  },
})

/** A deployment for those who may say that it may go on. */
export const onApprovableDeployment = projectRecord('read_builds', {
  params: deploymentParams,
  async find({ ctx, project, params }) {
    const deployment = await getDeployment(ctx, project, params.deployment_id)
    return {
      deployment,
      environment: await getEnvironment(ctx, project, deployment.environment_id),
    }
  },
})

/** Whether the protections of an environment let the caller deploy to it. */
export async function mayDeployTo(
  ctx: Ctx,
  project: Project,
  environment: Pick<EnvironmentRow, 'name' | 'tier'>,
): Promise<boolean> {
  const at = { project_id: project.id, namespace_id: project.namespace_id }
  return await mayDeploy(ctx, await placeOf(ctx, at, environment.name, environment.tier))
}

/** Whether the caller may run the job that stops an environment, where there is one (docs/contract/D §2.2). */
async function mayRunStopJob(
  ctx: Ctx,
  project: Project,
  environment: EnvironmentRow,
): Promise<boolean> {
  const job = await findStopJob(ctx, environment)
  const pipeline = job && (await findPipeline(ctx.db, job.pipeline_id))
  return !pipeline || (await mayRunAgain(ctx, project, pipeline))
}

/** Whether the caller may stop an environment: its protections and the ref of the job that does it count. */
export async function mayStop(
  ctx: Ctx,
  project: Project,
  environment: EnvironmentRow,
): Promise<boolean> {
  return (
    (await mayDeployTo(ctx, project, environment)) &&
    (await mayRunStopJob(ctx, project, environment))
  )
}

interface Stopping {
  readonly ctx: Ctx
  readonly project: Project
  readonly environment: EnvironmentRow
  readonly body: { readonly force?: boolean | undefined }
}

/** Stopping runs a job like any other; by force none is run. */
export const runsStopJob: Condition<Stopping> = condition(
  'may run the job that stops it',
  async ({ ctx, project, environment, body: { force } }) =>
    force === true || (await mayRunStopJob(ctx, project, environment)) || forbidden(),
)

interface NewDeployment {
  readonly ctx: Ctx
  readonly project: Project
  readonly body: { readonly environment: string }
}

/** Deployments to a protected environment are noted by those alone whom it names. */
export const deploysToNamed: Condition<NewDeployment> = condition(
  'environment: may deploy to it',
  async ({ ctx, project, body: { environment: name } }) => {
    const known = await findEnvironmentByName(ctx.db, project.id, name)
    const environment = known ?? { name, tier: tierOf(name, undefined) }
    return (await mayDeployTo(ctx, project, environment)) || forbidden()
  },
)

interface Approving {
  readonly ctx: Ctx
  readonly project: Project
  readonly environment: EnvironmentRow
}

/** Approvals are given by whom the protections of the environment name for them. */
export const approvesDeployment: Condition<Approving> = condition(
  'named by the approval rules',
  async ({ ctx, project, environment }) => {
    const user = userOf(ctx.actor)
    // Whoever was named keeps no say once they have left the project.
    if (!user || (project.role < Role.reporter && !isAdmin(ctx.actor))) return forbidden()
    const at = { project_id: project.id, namespace_id: project.namespace_id }
    const place = await placeOf(ctx, at, environment.name, environment.tier)
    const caller = { id: user.id, admin: isAdmin(ctx.actor) }
    return (await mayApprove(ctx, place, caller)) || forbidden()
  },
)
