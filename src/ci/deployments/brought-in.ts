import { z } from 'zod'
import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import { readLog } from '../../git/history/log.ts'
import { ifFound } from '../../repositories/repository/missing.ts'
import { listMergedWith } from '../../review/merge-requests/queries.ts'
import type { MergeRequestRow } from '../../review/merge-requests/row.ts'
import { inTransaction } from '../../store/transaction.ts'
import { type DeploymentRow, findDeployment } from '../environments/queries.ts'
import { findDeployedBefore, insertDeployedMergeRequests } from './queries.ts'

const MOST_COMMITS = 1000

const linkJob = {
  name: 'deployments.link_merge_requests',
  payload: z.object({ deployment_id: z.int() }),
}

/** The merge requests whose commits a deployment has and the one before in its environment had not, newest first. */
export async function readBroughtIn(
  ctx: Ctx,
  deployment: Pick<DeploymentRow, 'id' | 'project_id' | 'environment_id' | 'sha'>,
): Promise<MergeRequestRow[]> {
  const before = await findDeployedBefore(ctx.db, deployment)
  const revision = before ? `${before.sha}..${deployment.sha}` : deployment.sha
  const repo = ctx.git.open(deployment.project_id)
  const log = await ifFound(readLog(repo, { revision, limit: MOST_COMMITS }))
  const ids = (log?.commits ?? []).map((commit) => commit.id)
  return await listMergedWith(ctx.db, deployment.project_id, ids)
}

/** Enqueues the look for the merge requests of a deployment that has succeeded, in the transaction of the change. */
export async function enqueueLinking(
  ctx: Ctx,
  { row }: { readonly row: DeploymentRow },
): Promise<void> {
  if (row.status !== 'success') return
  await ctx.work.enqueue(ctx.db, linkJob, { deployment_id: row.id })
}

/** Keeps which merge requests a deployment brought in, for lists that ask when and where they were deployed. */
export const linkMergeRequests = task({
  ...linkJob,
  async handler(ctx: Ctx, { deployment_id }) {
    const row = await findDeployment(ctx.db, deployment_id)
    if (!row) return
    const found = await readBroughtIn(ctx, row)
    const ids = found.map((one) => one.id)
    await inTransaction(ctx, async (ctx) => {
      if (!(await findDeployment(ctx.db, row.id))) return
      await insertDeployedMergeRequests(ctx.db, row.id, ids)
    })
  },
})
