import { later } from '../../base/clock.ts'
import { runEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import { nextIid } from '../../store/iid.ts'
import type { PipelineStatus } from '../../store/schema/commits.ts'
import type { DeploymentStatus } from '../../store/schema/environments.ts'
import { secondsOf } from '../config/duration.ts'
import { isMap, type ValueMap } from '../config/values.ts'
import { environmentSlug, isEnvironmentName, tierOf } from './naming.ts'
import {
  type DeployingJob,
  type EnvironmentRow,
  findDeploymentOfJob,
  findEnvironmentByName,
  insertDeployment,
  insertEnvironment,
  listDeployingJobs,
  updateDeployment,
  updateEnvironment,
} from './queries.ts'

const STATUS_OF: Readonly<Record<PipelineStatus, DeploymentStatus>> = {
  created: 'created',
  waiting_for_resource: 'created',
  preparing: 'created',
  pending: 'created',
  manual: 'created',
  scheduled: 'created',
  running: 'running',
  canceling: 'running',
  success: 'success',
  failed: 'failed',
  canceled: 'canceled',
  skipped: 'skipped',
}

const FINISHED: readonly DeploymentStatus[] = ['success', 'failed', 'canceled', 'skipped']

/** What a job says of its environment, in the form in which jobs keep it. */
export function readEnvironment(text: string): ValueMap & { readonly name: string } {
  const given = JSON.parse(text) as unknown // written by us
  return isMap(given) ? { ...given, name: String(given.name) } : { name: '' }
}

/** The environment of a name, made when it is the first time that a job or a caller names it. */
export async function ensureEnvironment(
  ctx: Pick<Ctx, 'db' | 'now'>,
  projectId: number,
  name: string,
  tier?: unknown,
): Promise<EnvironmentRow> {
  const known = await findEnvironmentByName(ctx.db, projectId, name)
  if (known) return known
  return await insertEnvironment(ctx.db, {
    project_id: projectId,
    name,
    slug: environmentSlug(name),
    tier: tierOf(name, tier),
    created_at: ctx.now(),
    updated_at: ctx.now(),
  })
}

/** Lets environments and deployments follow what has become of jobs. To be called in the transaction of the change. */
export async function followJobs(ctx: Ctx, jobIds: readonly number[]): Promise<void> {
  for (const job of await listDeployingJobs(ctx.db, jobIds)) {
    const said = readEnvironment(job.environment)
    if (!isEnvironmentName(said.name)) continue
    const action = said.action ?? 'start'
    if (action === 'stop') await followStop(ctx, job, said)
    else if (action === 'start') await followStart(ctx, job, said)
    else await ensureEnvironment(ctx, job.project_id, said.name, said.deployment_tier)
  }
}

async function followStart(ctx: Ctx, job: DeployingJob, said: ValueMap & { name: string }) {
  const environment = await ensureEnvironment(ctx, job.project_id, said.name, said.deployment_tier)
  const status = STATUS_OF[job.status as PipelineStatus] // the column holds nothing else
  const known = await findDeploymentOfJob(ctx.db, job.id)
  const state = {
    status: known?.status === 'blocked' && job.status === 'manual' ? ('blocked' as const) : status,
    user_id: job.user_id,
    updated_at: ctx.now(),
    finished_at: FINISHED.includes(status) ? ctx.now() : null,
  }
  const row = known
    ? await updateDeployment(ctx.db, known.id, state)
    : await insertDeployment(ctx.db, {
        ...state,
        iid: await nextIid(ctx.db, job.project_id, 'deployment'),
        project_id: job.project_id,
        environment_id: environment.id,
        job_id: job.id,
        ref: job.ref,
        tag: job.tag,
        sha: job.sha,
        on_stop: typeof said.on_stop === 'string' ? said.on_stop : null,
        created_at: ctx.now(),
      })
  if (row.status !== known?.status) await runEffects(ctx, ctx.effects.deploymentChanged, { row })
  if (status === 'success') await makeAvailable(ctx, environment, said)
}

async function makeAvailable(ctx: Ctx, environment: EnvironmentRow, said: ValueMap): Promise<void> {
  const seconds = secondsOf(said.auto_stop_in)
  await updateEnvironment(ctx.db, environment.id, {
    state: 'available',
    auto_stop_at: seconds === undefined ? null : later(ctx.now(), seconds * 1000),
    tier: tierOf(environment.name, said.deployment_tier ?? environment.tier),
    updated_at: ctx.now(),
  })
}

async function followStop(ctx: Ctx, job: DeployingJob, said: ValueMap & { name: string }) {
  const environment = await findEnvironmentByName(ctx.db, job.project_id, said.name)
  if (!environment) return
  const state =
    job.status === 'success'
      ? 'stopped'
      : job.status === 'running' || job.status === 'pending'
        ? 'stopping'
        : job.status === 'failed' || job.status === 'canceled'
          ? 'available'
          : undefined
  if (state === undefined || (state === 'available' && environment.state !== 'stopping')) return
  const auto_stop_at = state === 'stopped' ? null : environment.auto_stop_at
  await updateEnvironment(ctx.db, environment.id, { state, auto_stop_at, updated_at: ctx.now() })
}

/** Notes where what a job deploys can be reached, with its variables in it. */
export async function noteEnvironmentUrl(
  ctx: Pick<Ctx, 'db' | 'now'>,
  projectId: number,
  name: string,
  url: string,
): Promise<void> {
  const environment = await findEnvironmentByName(ctx.db, projectId, name)
  if (!environment || environment.external_url === url || !isWebUrl(url)) return
  await updateEnvironment(ctx.db, environment.id, { external_url: url, updated_at: ctx.now() })
}

/** Whether a text may be shown as a link. */
export function isWebUrl(text: string): boolean {
  return text.length <= 255 && /^https?:\/\/[^\s]+$/.test(text) && URL.canParse(text)
}
