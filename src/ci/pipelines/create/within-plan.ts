import { planLimit } from '../../../access/plan-limits.ts'
import type { Ctx } from '../../../ctx.ts'
import { configFault } from '../../config/fault.ts'
import type { PipelinePlan } from '../../config/plan.ts'
import { countActiveJobs } from '../limit-queries.ts'

/** Refuses a pipeline of more jobs, or with more needs of a job, than the limits of the plan allow. */
export function assertSize(ctx: Pick<Ctx, 'settings'>, { jobs }: PipelinePlan): void {
  const mostJobs = planLimit(ctx.settings, 'ci_pipeline_size')
  if (mostJobs > 0 && jobs.length > mostJobs) {
    throw configFault(
      `The number of jobs has exceeded the limit of ${mostJobs}. Try splitting the configuration with parent-child-pipelines`,
    )
  }
  const mostNeeds = planLimit(ctx.settings, 'ci_needs_size_limit')
  for (const { name, needs = [] } of mostNeeds > 0 ? jobs : []) {
    if (needs.length <= mostNeeds) continue
    throw configFault(
      `${name} job: one job can only need ${mostNeeds} others, but you're trying to add ${needs.length}`,
    )
  }
}

/** Refuses a pipeline whose jobs would make more unfinished ones in its project than the plan allows. */
export async function assertRoomForJobs(
  ctx: Pick<Ctx, 'db' | 'settings'>,
  projectId: number,
  { jobs }: PipelinePlan,
): Promise<void> {
  const most = planLimit(ctx.settings, 'ci_active_jobs')
  if (most === 0 || (await countActiveJobs(ctx.db, projectId)) + jobs.length <= most) return
  throw configFault(`Project exceeded the allowed number of active jobs: ${most}`)
}
