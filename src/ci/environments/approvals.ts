import type { Ctx } from '../../ctx.ts'
import { isNamedBy, type Place, placeOfJob } from './access.ts'
import { readEnvironment } from './follow-jobs.ts'
import {
  type ApprovalRow,
  type DeploymentRow,
  deleteApprovals,
  findDeploymentOfJob,
  listApprovals,
  listDeployingJobs,
  listProtections,
  updateDeployment,
} from './queries.ts'

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
        if (await isNamedBy(ctx, rule, place, { id: one.user_id, admin: false })) found += 1
      }
      required += most
      approved += Math.min(most, found)
    }
  }
  return { required, approved }
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

/** Lets the deployment of a job wait for all its approvals anew. */
export async function forgetApprovals(ctx: Pick<Ctx, 'db'>, jobId: number): Promise<void> {
  const deployment = await findDeploymentOfJob(ctx.db, jobId)
  if (deployment) await deleteApprovals(ctx.db, deployment.id)
}
