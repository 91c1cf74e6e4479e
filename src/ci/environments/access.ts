import { type Actor, isAdmin } from '../../access/actor.ts'
import { findGroupRole, findProjectById, findProjectRole } from '../../access/find-queries.ts'
import { Role } from '../../access/roles.ts'
import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { readEnvironment } from './follow-jobs.ts'
import { tierOf } from './naming.ts'
import {
  type DeployingJob,
  findDeploymentOfJob,
  findEnvironmentByName,
  findOwnGroupRole,
  isOutdated,
  listDeployingJobs,
  listProtections,
} from './queries.ts'

type Level = Awaited<ReturnType<typeof listProtections>>[number]

/** An environment as protections look at it. */
export interface Place {
  readonly projectId: number
  readonly namespaceId: number
  readonly name: string
  readonly tier: string
}

/** The environment of a job. Whatever its action is, even `access`, the job gets the environment's variables. */
export async function placeOfJob(
  ctx: Pick<Ctx, 'db'>,
  job: Pick<DeployingJob, 'project_id' | 'namespace_id' | 'environment'>,
): Promise<Place> {
  const said = readEnvironment(job.environment)
  return await placeOf(ctx, job, said.name, said.deployment_tier)
}

/** Where an environment is, as protections name it. */
export async function placeOf(
  ctx: Pick<Ctx, 'db'>,
  project: { readonly project_id: number; readonly namespace_id: number },
  name: string,
  given?: unknown,
): Promise<Place> {
  const known = await findEnvironmentByName(ctx.db, project.project_id, name)
  const tier = known?.tier ?? tierOf(name, given)
  return { projectId: project.project_id, namespaceId: project.namespace_id, name, tier }
}

/** Whether one level of a protection names a user. */
export async function isNamedBy(
  ctx: Pick<Ctx, 'db' | 'now'>,
  level: Level,
  place: Place,
  user: { readonly id: number; readonly admin: boolean },
): Promise<boolean> {
  const today = dayOf(ctx.now())
  if (level.user_id !== null) return level.user_id === user.id
  if (level.group_id !== null) {
    const findRole = level.group_inheritance_type === 1 ? findGroupRole : findOwnGroupRole
    return (await findRole(ctx.db, user.id, level.group_id, today)) >= Role.reporter
  }
  if (level.access_level === Role.admin) return user.admin
  const project = await findProjectById(ctx.db, place.projectId)
  const role = project ? await findProjectRole(ctx.db, user.id, project, today) : Role.none
  return user.admin || role >= (level.access_level ?? Role.owner)
}

async function isNamed(
  ctx: Pick<Ctx, 'db' | 'now'>,
  levels: readonly Level[],
  place: Place,
  user: { readonly id: number; readonly admin: boolean },
): Promise<boolean> {
  for (const level of levels) if (await isNamedBy(ctx, level, place, user)) return true
  return false
}

/** Whether somebody may deploy to an environment: each protection that holds for it must name them. */
export async function mayDeploy(
  ctx: Ctx,
  place: Place,
  actor: Actor = ctx.actor,
): Promise<boolean> {
  const levels = await listProtections(ctx.db, place)
  if (levels.length === 0) return true
  const user = actor.kind === 'user' || actor.kind === 'job' ? actor.user : undefined
  if (!user) return false
  const caller = { id: user.id, admin: isAdmin(actor) }
  for (const id of new Set(levels.map((level) => level.id))) {
    const deploy = levels.filter((level) => level.id === id && level.kind === 'deploy')
    if (!(await isNamed(ctx, deploy, place, caller))) return false
  }
  return true
}

/** Why a job that is about to begin must not have its environment; undefined when it may. `ctx` acts for the job's user. */
export async function deployRefusal(
  ctx: Ctx,
  jobId: number,
  settings: { readonly forward: boolean; readonly rollback: boolean },
): Promise<string | undefined> {
  const [job] = await listDeployingJobs(ctx.db, [jobId])
  if (!job) return undefined
  if (!(await mayDeploy(ctx, await placeOfJob(ctx, job)))) return 'protected_environment_failure'
  const deployment = await findDeploymentOfJob(ctx.db, jobId)
  if (!settings.forward || !deployment) return undefined
  return (await isOutdated(ctx.db, deployment, settings.rollback))
    ? 'failed_outdated_deployment_job'
    : undefined
}

/** Whether somebody is among those who may approve of deployments to an environment. */
export async function mayApprove(
  ctx: Pick<Ctx, 'db' | 'now'>,
  place: Place,
  user: { readonly id: number; readonly admin: boolean },
): Promise<boolean> {
  const levels = await listProtections(ctx.db, place)
  const rules = levels.filter((level) => level.kind === 'approval')
  const asked =
    rules.length > 0 ? rules : levels.filter((level) => level.required_approval_count > 0)
  return await isNamed(ctx, asked, place, user)
}
