import type { Project } from '../../../access/subjects.ts'
import { later } from '../../../base/clock.ts'
import type { Ctx } from '../../../ctx.ts'
import { placeOwnRef } from '../../../repositories/refs/own-refs.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { configFault } from '../../config/fault.ts'
import type { PipelinePlan } from '../../config/plan.ts'
import { processPipeline } from '../process/process.ts'
import { startedPipeline } from '../process/task-names.ts'
import { findPipeline, insertSource, type PipelineRow } from '../queries.ts'
import { cancelRedundant } from './auto-cancel.ts'
import type { PipelineRef } from './known-variables.ts'
import { makePlan } from './make-plan.ts'
import type { PipelineInput } from './pipeline-input.ts'
import { type PlannedInput, savePipeline } from './save-pipeline.ts'
import { assertRoomForJobs } from './within-plan.ts'

/**
 * Makes a pipeline for a branch or tag that the caller may run pipelines on, and lets its first jobs go
 * (docs/contract/D §1.15, §5.3).
 */
export async function createPipeline(
  ctx: Ctx,
  project: Project,
  at: PipelineRef,
  input: PipelineInput,
): Promise<PipelineRow> {
  const { plan, configPath } = await makePlan(ctx, project, at, input)
  if (plan === 'workflow') throw configFault('Pipeline filtered out by workflow rules.')
  if (plan === 'no_jobs') {
    throw configFault(
      'Pipeline will not run for the selected trigger. The rules configuration prevented any jobs from being added to the pipeline.',
    )
  }
  await assertRoomForJobs(ctx, project.id, plan)
  return await startPlanned(ctx, project, at, plan, { ...input, configPath })
}

/**
 * Writes a planned pipeline and lets its first jobs go. Jobs fetch `refs/pipelines/<id>`, which keeps the commit as long
 * as the pipeline: no job waits for a runner before it is there. A crash in between leaves a task that goes on.
 */
export async function startPlanned(
  ctx: Ctx,
  project: Project,
  at: PipelineRef,
  plan: PipelinePlan,
  input: PlannedInput,
): Promise<PipelineRow> {
  const { id } = await inTransaction(ctx, async (ctx) => {
    await input.before?.(ctx)
    const row = await savePipeline(ctx, project, at, plan, input)
    if (input.bridge) {
      const { jobId, depends } = input.bridge
      await insertSource(ctx.db, { pipeline_id: row.id, job_id: jobId, depends })
    }
    await input.record?.(ctx, row.id)
    const runAt = later(ctx.now(), RESUME_MS)
    await ctx.work.enqueue(ctx.db, startedPipeline, { pipeline_id: row.id }, { runAt })
    return row
  })
  return await startPipeline(ctx, id)
}

/** When a pipeline whose making broke off is looked at. */
const RESUME_MS = 30_000

/** Places the ref of a pipeline that is written, and lets its first jobs go; done again it changes nothing. */
export async function startPipeline(ctx: Ctx, id: number): Promise<PipelineRow> {
  const row = await findPipeline(ctx.db, id)
  if (!row) throw configFault('Pipeline was removed')
  await placeOwnRef(ctx.git.open(row.project_id), `refs/pipelines/${id}`, row.sha)
  await inTransaction(ctx, async (ctx) => {
    await processPipeline(ctx, id)
    // One that is skipped makes nothing redundant, and one that has begun before has done it.
    if (row.status === 'created') await cancelRedundant(ctx, row)
  })
  const started = await findPipeline(ctx.db, id)
  if (!started) throw configFault('Pipeline was removed')
  return started
}
