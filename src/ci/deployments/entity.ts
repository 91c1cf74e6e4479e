import { z } from 'zod'
import { presentProjectIdentity, projectIdentityEntity } from '../../access/project-identity.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { userBasicEntity } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import { placeOf } from '../environments/access.ts'
import { approvalNeed } from '../environments/approvals.ts'
import {
  type DeploymentRow,
  type EnvironmentRow,
  findLastDeployment,
  listApprovals,
} from '../environments/queries.ts'
import { jobEntity, jobPresenter } from '../pipelines/job-entity.ts'
import { jobsOf } from '../pipelines/process/running.ts'
import { listEnvironmentsById } from './queries.ts'

/** An environment as deployments name it. */
export const environmentBasicEntity = z.strictObject({
  id: z.int(),
  name: z.string(),
  slug: z.string(),
  external_url: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
})

/** An environment in lists (docs/contract/D §1.21). */
export const environmentEntity = z.strictObject({
  ...environmentBasicEntity.shape,
  description: z.string().nullable(),
  state: z.enum(['available', 'stopping', 'stopped']),
  tier: z.string(),
  auto_stop_at: z.string().nullable(),
  auto_stop_setting: z.string(),
  project: projectIdentityEntity,
})

const approvalEntity = z.strictObject({
  user: userBasicEntity,
  status: z.string(),
  created_at: z.string(),
  comment: z.string().nullable(),
})

export const deploymentEntity = z.strictObject({
  id: z.int(),
  iid: z.int(),
  ref: z.string(),
  sha: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  status: z.string(),
  user: userBasicEntity.nullable(),
  environment: environmentBasicEntity,
  deployable: jobEntity.nullable(),
})

/** One deployment, with who approved of it. */
export const deploymentDetailsEntity = z.strictObject({
  ...deploymentEntity.shape,
  pending_approval_count: z.int(),
  approvals: z.array(approvalEntity),
})

export const environmentDetailsEntity = z.strictObject({
  ...environmentEntity.shape,
  last_deployment: deploymentEntity.nullable(),
})

export { approvalEntity }

/** An environment as deployments name it. */
export function presentBasic(row: EnvironmentRow): z.input<typeof environmentBasicEntity> {
  const { id, name, slug, external_url, created_at, updated_at } = row
  return { id, name, slug, external_url, created_at, updated_at }
}

export function presentEnvironment(
  project: Project,
  row: EnvironmentRow,
): z.input<typeof environmentEntity> {
  return {
    ...presentBasic(row),
    description: row.description,
    state: row.state,
    tier: row.tier,
    auto_stop_at: row.auto_stop_at,
    auto_stop_setting: row.auto_stop_setting,
    project: presentProjectIdentity(project),
  }
}

export async function presentEnvironmentDetails(
  ctx: Ctx,
  project: Project,
  row: EnvironmentRow,
): Promise<z.input<typeof environmentDetailsEntity>> {
  const last = await findLastDeployment(ctx.db, row.id, 'success')
  const [last_deployment = null] = last ? await presentDeployments(ctx, project, [last]) : []
  return { ...presentEnvironment(project, row), last_deployment }
}

/** Deployments with their people, jobs and environments, each read once. */
export async function presentDeployments(
  ctx: Ctx,
  project: Project,
  rows: readonly DeploymentRow[],
): Promise<z.input<typeof deploymentEntity>[]> {
  const users = await usersById(
    ctx,
    rows.map((row) => row.user_id),
  )
  const jobs = await jobsOf(
    ctx.db,
    project.id,
    rows.flatMap((row) => row.job_id ?? []),
  )
  const presenter = await jobPresenter(ctx, project, jobs)
  const jobById = new Map(jobs.map((job) => [job.id, job]))
  const places = await listEnvironmentsById(
    ctx.db,
    rows.map((row) => row.environment_id),
  )
  const placeById = new Map(places.map((place) => [place.id, place]))
  return rows.map((row) => {
    const environment = placeById.get(row.environment_id)
    if (!environment) throw new Error(`deployment ${row.id} has no environment`)
    const job = row.job_id === null ? undefined : jobById.get(row.job_id)
    return {
      id: row.id,
      iid: row.iid,
      ref: row.ref,
      sha: row.sha,
      created_at: row.created_at,
      updated_at: row.updated_at,
      status: row.status,
      user: (row.user_id === null ? undefined : users.get(row.user_id)) ?? null,
      environment: presentBasic(environment),
      deployable: job && job.kind === 'build' ? presenter.job(job) : null,
    }
  })
}

export async function presentDeployment(
  ctx: Ctx,
  project: Project,
  row: DeploymentRow,
): Promise<z.input<typeof deploymentDetailsEntity>> {
  const [basic] = await presentDeployments(ctx, project, [row])
  if (!basic) throw new Error(`deployment ${row.id} was not presented`)
  const approvals = await listApprovals(ctx.db, row.id)
  const users = await usersById(
    ctx,
    approvals.map((one) => one.user_id),
  )
  const at = { project_id: project.id, namespace_id: project.namespace_id }
  const need = await approvalNeed(ctx, await placeOf(ctx, at, basic.environment.name), approvals)
  return {
    ...basic,
    pending_approval_count: need.required - need.approved,
    approvals: approvals.flatMap(({ user_id, status, created_at, comment }) => {
      const user = users.get(user_id)
      return user ? [{ user, status, created_at, comment }] : []
    }),
  }
}
