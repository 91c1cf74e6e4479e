import { userOf } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import { runEffects } from '../../base/effects.ts'
import { existing, forbidden, invalid, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { nextIid } from '../../store/iid.ts'
import type { DeploymentStatus, Tier } from '../../store/schema/environments.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import { ensureEnvironment, isWebUrl } from './follow-jobs.ts'
import { environmentSlug, isEnvironmentName, tierOf } from './naming.ts'
import {
  type DeploymentRow,
  deleteDeployment,
  deleteStopped,
  type EnvironmentRow,
  findDeployment,
  findEnvironment,
  findLastDeployment,
  insertDeployment,
  insertEnvironment,
  saveApproval,
  updateDeployment,
  updateEnvironment,
} from './queries.ts'

/** What may be said of an environment. */
export interface EnvironmentInput {
  readonly external_url?: string | null | undefined
  readonly tier?: Tier | undefined
  readonly description?: string | null | undefined
  readonly auto_stop_setting?: 'always' | 'with_action' | undefined
}

export async function createEnvironment(
  ctx: Ctx,
  project: Project,
  name: string,
  input: EnvironmentInput,
): Promise<EnvironmentRow> {
  assertName(name)
  assertUrl(input.external_url)
  const taken = () => invalid({ name: ['has already been taken'] })
  const problems = {
    'environments.project_id, environments.name': taken,
    'environments.project_id, environments.slug': taken,
  }
  return await uniquely(problems, () =>
    insertEnvironment(ctx.db, {
      project_id: project.id,
      name,
      slug: environmentSlug(name),
      external_url: input.external_url || null,
      description: input.description ?? null,
      tier: tierOf(name, input.tier),
      auto_stop_setting: input.auto_stop_setting ?? 'always',
      created_at: ctx.now(),
      updated_at: ctx.now(),
    }),
  )
}

export async function changeEnvironment(
  ctx: Ctx,
  row: EnvironmentRow,
  input: EnvironmentInput,
): Promise<EnvironmentRow> {
  assertUrl(input.external_url)
  return await updateEnvironment(ctx.db, row.id, {
    ...(input.external_url === undefined ? {} : { external_url: input.external_url || null }),
    ...(input.description === undefined ? {} : { description: input.description }),
    ...(input.tier === undefined ? {} : { tier: input.tier }),
    ...(input.auto_stop_setting === undefined
      ? {}
      : { auto_stop_setting: input.auto_stop_setting }),
    updated_at: ctx.now(),
  })
}

function assertName(name: string): void {
  if (isEnvironmentName(name)) return
  throw invalid({
    name: [
      "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'",
    ],
  })
}

function assertUrl(url: string | null | undefined): void {
  if (!url || isWebUrl(url)) return
  throw invalid({ external_url: ['is blocked: Only allowed schemes are http, https'] })
}

/** Deletes an environment that was stopped; false where somebody has started it again, or deleted it. */
export function removeStopped(
  ctx: Pick<Ctx, 'db'>,
  { id }: Pick<EnvironmentRow, 'id'>,
): Promise<boolean> {
  return deleteStopped(ctx.db, id)
}

/** Deletes an environment, which must be stopped. */
export async function removeEnvironment(
  ctx: Pick<Ctx, 'db'>,
  row: Pick<EnvironmentRow, 'id'>,
): Promise<void> {
  if (await removeStopped(ctx, row)) return
  throw (await findEnvironment(ctx.db, row.id)) ? forbidden() : notFound('Environment')
}

/** Marks an environment as stopped. */
export async function markStopped(ctx: Ctx, row: EnvironmentRow): Promise<EnvironmentRow> {
  const state = { state: 'stopped', auto_stop_at: null, updated_at: ctx.now() } as const
  return await updateEnvironment(ctx.db, row.id, state)
}

/** Takes the time away at which an environment was to be stopped. */
export async function keepRunning(
  ctx: Pick<Ctx, 'db' | 'now'>,
  row: EnvironmentRow,
): Promise<void> {
  await updateEnvironment(ctx.db, row.id, { auto_stop_at: null, updated_at: ctx.now() })
}

export interface DeploymentInput {
  readonly environment: string
  readonly sha: string
  readonly ref: string
  readonly tag: boolean
  readonly status: DeploymentStatus
}

const FINISHED: readonly string[] = ['success', 'failed', 'canceled']

/** Notes what somebody deployed by other means. */
export async function createDeployment(
  ctx: Ctx,
  project: Project,
  input: DeploymentInput,
): Promise<DeploymentRow> {
  assertName(input.environment)
  return await inTransaction(ctx, async (ctx) => {
    const environment = await ensureEnvironment(ctx, project.id, input.environment)
    if (input.status === 'success') await startAgain(ctx, environment.id)
    const row = await insertDeployment(ctx.db, {
      iid: await nextIid(ctx.db, project.id, 'deployment'),
      project_id: project.id,
      environment_id: environment.id,
      user_id: userOf(ctx.actor)?.id ?? null,
      ref: input.ref,
      tag: input.tag,
      sha: input.sha,
      status: input.status,
      created_at: ctx.now(),
      updated_at: ctx.now(),
      finished_at: FINISHED.includes(input.status) ? ctx.now() : null,
    })
    await runEffects(ctx, ctx.effects.deploymentChanged, { row })
    return row
  })
}

/** Changes the status of a deployment that no job makes. */
export async function changeDeployment(
  ctx: Ctx,
  { id }: Pick<DeploymentRow, 'id'>,
  status: DeploymentStatus,
): Promise<DeploymentRow> {
  return await inTransaction(ctx, async (ctx) => {
    // Read inside: it may have ended otherwise a moment ago.
    const row = existing(await findDeployment(ctx.db, id), 'Deployment')
    if (row.job_id !== null) throw forbidden()
    if (FINISHED.includes(row.status) && row.status !== status) {
      throw invalid({ status: [`cannot transition from '${row.status}' to '${status}'`] })
    }
    const finished_at = FINISHED.includes(status) ? (row.finished_at ?? ctx.now()) : null
    if (status === 'success') await startAgain(ctx, row.environment_id)
    const values = { status, finished_at, updated_at: ctx.now() }
    const changed = await updateDeployment(ctx.db, row.id, values)
    if (status !== row.status)
      await runEffects(ctx, ctx.effects.deploymentChanged, { row: changed })
    return changed
  })
}

/** What was deployed to is there, also where it was stopped before. */
async function startAgain(ctx: Pick<Ctx, 'db' | 'now'>, environmentId: number): Promise<void> {
  const state = { state: 'available', updated_at: ctx.now() } as const
  await updateEnvironment(ctx.db, environmentId, state)
}

/** Deletes a deployment that neither runs nor is what its environment shows. */
export async function removeDeployment(
  ctx: Pick<Ctx, 'db'>,
  { id }: Pick<DeploymentRow, 'id'>,
): Promise<void> {
  await inTransaction(ctx, async ({ db }) => {
    const row = existing(await findDeployment(db, id), 'Deployment')
    if (row.status === 'running') throw invalid({ base: ['Cannot destroy running deployment'] })
    const last = await findLastDeployment(db, row.environment_id, 'success')
    if (last?.id === id) {
      throw invalid({ base: ['Deployment currently deployed to environment'] })
    }
    await deleteDeployment(db, id)
  })
}

/** Keeps what somebody says of a deployment, in the place of what they said before. */
export async function addApproval(
  ctx: Pick<Ctx, 'db' | 'now'>,
  deploymentId: number,
  given: {
    readonly user_id: number
    readonly status: 'approved' | 'rejected'
    readonly comment?: string | undefined
  },
): Promise<void> {
  await saveApproval(ctx.db, {
    ...given,
    deployment_id: deploymentId,
    comment: given.comment ?? null,
    created_at: ctx.now(),
  })
}
