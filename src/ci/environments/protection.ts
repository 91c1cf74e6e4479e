import { type Actor, isAdmin } from '../../access/actor.ts'
import { findGroupRole, findProjectById, findProjectRole } from '../../access/find-queries.ts'
import { Role } from '../../access/roles.ts'
import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { readEnvironment } from './follow-jobs.ts'
import { tierOf } from './naming.ts'
import {
  type ApprovalRow,
  type DeployingJob,
  type DeploymentRow,
  findDeploymentOfJob,
  findEnvironmentByName,
  isOutdated,
  listApprovals,
  listDeployingJobs,
  listProtections,
  updateDeployment,
} from './queries.ts'

type Level = Awaited<ReturnType<typeof listProtections>>[number]

interface Place {
  readonly projectId: number
  readonly namespaceId: number
  readonly name: string
  readonly tier: string
}

async function placeOfJob(ctx: Pick<Ctx, 'db'>, job: DeployingJob): Promise<Place | undefined> {
  const said = readEnvironment(job.environment)
  const action = said.action ?? 'start'
  if (action !== 'start' && action !== 'stop') return undefined
  return await placeOf(ctx, job, said.name, said.deployment_tier)
}

/** Where an environment is, as protections name it. */
export async function placeOf(
  ctx: Pick<Ctx, 'db'>,
  project: { readonly project_id: number; readonly namespace_id: number },
  name: string,
  told?: unknown,
): Promise<Place> {
  const known = await findEnvironmentByName(ctx.db, project.project_id, name)
  const tier = known?.tier ?? tierOf(name, told)
  return { projectId: project.project_id, namespaceId: project.namespace_id, name, tier }
}

/** Whether one level of a protection names a user. */
async function names(
  ctx: Pick<Ctx, 'db' | 'now'>,
  level: Level,
  place: Place,
  user: { readonly id: number; readonly admin: boolean },
): Promise<boolean> {
  const today = dayOf(ctx.now())
  if (level.user_id !== null) return level.user_id === user.id
  if (level.group_id !== null) {
    return (await findGroupRole(ctx.db, user.id, level.group_id, today)) >= Role.reporter
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
  for (const level of levels) if (await names(ctx, level, place, user)) return true
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

/** Why a job that is about to begin must not deploy; undefined when it may. `ctx` acts for the job's user. */
export async function deployRefusal(
  ctx: Ctx,
  jobId: number,
  settings: { readonly forward: boolean; readonly rollback: boolean },
): Promise<string | undefined> {
  const [job] = await listDeployingJobs(ctx.db, [jobId])
  const place = job && (await placeOfJob(ctx, job))
  if (!job || !place) return undefined
  if (!(await mayDeploy(ctx, place))) return 'protected_environment_failure'
  const deployment = await findDeploymentOfJob(ctx.db, jobId)
  if (!settings.forward || !deployment) return undefined
  return (await isOutdated(ctx.db, deployment, settings.rollback))
    ? 'failed_outdated_deployment_job'
    : undefined
}

/** How many approvals an environment asks for, and of whom. */
export interface ApprovalNeed {
  readonly required: number
  readonly approved: number
}

/** What a deployment still waits for: nothing when every rule has its approvals. */
export async function approvalNeed(
  ctx: Pick<Ctx, 'db' | 'now'>,
  place: Place,
  approvals: readonly ApprovalRow[],
): Promise<ApprovalNeed> {
  const levels = await listProtections(ctx.db, place)
  const given = approvals.filter((one) => one.status === 'approved')
  let required = 0
  let approved = 0
  for (const id of new Set(levels.map((level) => level.id))) {
    const own = levels.filter((level) => level.id === id)
    const rules = own.filter((level) => level.kind === 'approval')
    if (rules.length === 0) {
      const count = own[0]?.required_approval_count ?? 0
      required += count
      approved += Math.min(count, given.length)
    }
    for (const rule of rules) {
      const most = rule.required_approvals ?? 0
      let found = 0
      for (const one of given) {
        if (await names(ctx, rule, place, { id: one.user_id, admin: false })) found += 1
      }
      required += most
      approved += Math.min(most, found)
    }
  }
  return { required, approved }
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

/** Those of some jobs whose deployments wait for approvals; their deployments are marked so. */
export async function blockUnapproved(
  ctx: Ctx,
  jobIds: readonly number[],
): Promise<ReadonlySet<number>> {
  const blocked = new Set<number>()
  for (const job of await listDeployingJobs(ctx.db, jobIds)) {
    if ((readEnvironment(job.environment).action ?? 'start') !== 'start') continue
    const place = await placeOfJob(ctx, job)
    const deployment = await findDeploymentOfJob(ctx.db, job.id)
    const approvals = deployment ? await listApprovals(ctx.db, deployment.id) : []
    if (!place) continue
    const need = await approvalNeed(ctx, place, approvals)
    if (need.approved < need.required) blocked.add(job.id)
  }
  return blocked
}

/** Marks the deployments of jobs that were held back. */
export async function markBlocked(ctx: Ctx, jobIds: readonly number[]): Promise<void> {
  for (const id of jobIds) {
    const deployment: DeploymentRow | undefined = await findDeploymentOfJob(ctx.db, id)
    if (!deployment) continue
    await updateDeployment(ctx.db, deployment.id, { status: 'blocked', updated_at: ctx.now() })
  }
}
