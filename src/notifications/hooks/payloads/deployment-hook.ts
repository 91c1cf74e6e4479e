import { z } from 'zod'
import { actAs } from '../../../access/act-as.ts'
import type { Project } from '../../../access/subjects.ts'
import { findProjectWithRole } from '../../../access/subjects.ts'
import { task } from '../../../background/task.ts'
import {
  type DeploymentRow,
  findDeployment,
  findEnvironment,
  findNewestDeployment,
} from '../../../ci/environments/queries.ts'
import type { Ctx } from '../../../ctx.ts'
import { readCommits } from '../../../git/objects/commit.ts'
import { titleOf } from '../../../repositories/commits/entity.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { because, cause, causeOf, fireHooks, type HookPayload, wantsHooks } from '../fire.ts'
import { findHookPlace } from './notified-queries.ts'
import { hookProject, hookUserById } from './payload-parts.ts'

const TOLD: readonly string[] = ['running', 'success', 'failed', 'canceled']

/** Enqueues the notification of hooks that a deployment began or ended, in the transaction of the change. */
export async function enqueueDeploymentHooks(
  ctx: Ctx,
  { row }: { readonly row: DeploymentRow },
): Promise<void> {
  if (!TOLD.includes(row.status)) return
  const place = await findHookPlace(ctx.db, row.project_id)
  if (!place || !(await wantsHooks(ctx, place, 'deployment'))) return
  const payload = { deployment_id: row.id, status: row.status, at: ctx.now(), ...causeOf(ctx) }
  await ctx.work.enqueue(ctx.db, notifyOfDeployment, payload)
}

/** Notifies hooks of a status that a deployment took; the title of its commit takes git. */
export const notifyOfDeployment = task({
  name: 'deployments.notify',
  payload: z.object({ deployment_id: z.int(), status: z.string(), at: z.string(), ...cause }),
  async handler(given: Ctx, { deployment_id, status, at, ...chain }) {
    const row = await findDeployment(given.db, deployment_id)
    if (!row) return
    const ctx = because(await actAs(given, row.user_id), chain)
    const project = await findProjectWithRole(ctx, row.project_id)
    if (!project) return
    const payload = await payloadOf(ctx, project, row, { status, at })
    await inTransaction(ctx, (ctx) => fireHooks(ctx, project, 'deployment', () => payload))
  },
})

async function payloadOf(
  ctx: Ctx,
  project: Project,
  row: DeploymentRow,
  { status, at }: { readonly status: string; readonly at: string },
): Promise<HookPayload> {
  const place = hookProject(ctx, project)
  const [environment, user, [commit]] = await Promise.all([
    findEnvironment(ctx.db, row.environment_id),
    hookUserById(ctx, row.user_id),
    readCommits(ctx.git.open(project.id), [row.sha]),
  ])
  return {
    object_kind: 'deployment',
    status,
    status_changed_at: at,
    deployment_id: row.id,
    deployable_id: row.job_id,
    deployable_url: row.job_id === null ? null : `${place.web_url}/-/jobs/${row.job_id}`,
    environment: environment?.name ?? null,
    environment_tier: environment?.tier ?? null,
    environment_slug: environment?.slug ?? null,
    environment_external_url: environment?.external_url ?? null,
    project: place,
    ref: row.ref,
    short_sha: row.sha.slice(0, 8),
    user,
    user_url: user ? `${ctx.config.externalUrl}/${user.username}` : null,
    commit_url: `${place.web_url}/-/commit/${row.sha}`,
    commit_title: commit ? titleOf(commit) : null,
  }
}

/** The newest deployment as a payload, for trying a hook out. */
export async function newestDeploymentPayload(
  ctx: Ctx,
  project: Project,
): Promise<HookPayload | undefined> {
  const row = await findNewestDeployment(ctx.db, project.id)
  return row && payloadOf(ctx, project, row, { status: row.status, at: row.updated_at })
}
