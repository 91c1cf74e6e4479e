import { userOf } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import { badRequest, forbidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { placeOf } from '../environments/access.ts'
import { approvalNeed } from '../environments/approvals.ts'
import {
  type ApprovalRow,
  type DeploymentRow,
  type EnvironmentRow,
  findDeployment,
  listApprovals,
} from '../environments/queries.ts'
import { addApproval } from '../environments/save-environment.ts'
import { endJob, playJob } from '../pipelines/process/change-jobs.ts'
import { jobOf } from '../pipelines/process/running.ts'

/**
 * Says that a deployment which waits may go on, or may not. The job begins when every rule has its approvals; one
 * rejection ends it. Whoever started the job has no say in it.
 */
export async function decideDeployment(
  ctx: Ctx,
  project: Project,
  at: { readonly deployment: DeploymentRow; readonly environment: EnvironmentRow },
  given: { readonly status: 'approved' | 'rejected'; readonly comment?: string | undefined },
): Promise<ApprovalRow> {
  const { deployment, environment } = at
  const user = userOf(ctx.actor)
  const subject = { project_id: project.id, namespace_id: project.namespace_id }
  const place = await placeOf(ctx, subject, environment.name, environment.tier)
  if (!user) throw forbidden()
  return await inTransaction(ctx, async (ctx) => {
    const job = deployment.job_id === null ? undefined : await jobOf(ctx.db, deployment.job_id)
    // Somebody else may have played the job since the deployment was made: it runs as them, with their variables.
    if (deployment.user_id === user.id || job?.user_id === user.id) {
      throw badRequest('You cannot approve your own deployment.')
    }
    // Read inside: of two who decide at once, the first may have decided already.
    if ((await findDeployment(ctx.db, deployment.id))?.status !== 'blocked') {
      throw badRequest('This deployment is not waiting for approvals.')
    }
    await addApproval(ctx, deployment.id, { user_id: user.id, ...given })
    const approvals = await listApprovals(ctx.db, deployment.id)
    const need = await approvalNeed(ctx, place, approvals)
    if (job && given.status === 'rejected') {
      await endJob(ctx, job, { status: 'failed', reason: 'deployment_rejected' })
    } else if (job && need.approved >= need.required) {
      await playJob({ ...ctx, actor: { kind: 'system' } }, job.id, job.sealed_variables)
    }
    const own = approvals.find((one) => one.user_id === user.id)
    if (!own) throw new Error(`approval of deployment ${deployment.id} was not kept`)
    return own
  })
}
