import { actAs } from '../../access/act-as.ts'
import type { Project } from '../../access/subjects.ts'
import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import { fireHooks } from '../../notifications/hooks/fire.ts'
import { findHookProject } from '../../notifications/hooks/payload-parts.ts'
import { inTransaction } from '../../store/transaction.ts'
import { jobPayload, pipelinePayload } from './hook-payload.ts'
import { type JobRow, listCurrentJobs } from './job-queries.ts'
import { findPipeline, type PipelineRow } from './queries.ts'
import { changedPipeline } from './task-names.ts'
import { countRetries, listTold, saveTold } from './told-queries.ts'

const ENDED: readonly string[] = ['success', 'failed', 'canceled', 'skipped']

/**
 * Tells hooks which statuses a pipeline and its jobs have now, as far as they have not heard of them; the end of a
 * pipeline is told by a task of its own. What changes twice before this runs is told as it is then.
 */
export const tellPipelineChanges = task({
  ...changedPipeline,
  async handler(given: Ctx, { pipeline_id }) {
    const pipeline = await findPipeline(given.db, pipeline_id)
    if (!pipeline) return
    const ctx = await actAs(given, pipeline.user_id)
    const project = await findHookProject(ctx, pipeline.project_id)
    if (!project) return
    const told = new Map(
      (await listTold(ctx.db, pipeline.id)).map((one) => [`${one.kind} ${one.id}`, one.status]),
    )
    if (told.get(`pipeline ${pipeline.id}`) !== pipeline.status)
      await tellPipeline(ctx, project, pipeline)
    for (const job of await listCurrentJobs(ctx.db, pipeline.id)) {
      if (told.get(`job ${job.id}`) !== job.status) await tellJob(ctx, project, pipeline, job)
    }
  },
})

async function tellPipeline(ctx: Ctx, project: Project, pipeline: PipelineRow): Promise<void> {
  const { id, status } = pipeline
  const payload = ENDED.includes(status) ? undefined : await pipelinePayload(ctx, project, pipeline)
  await inTransaction(ctx, async (ctx) => {
    await saveTold(ctx.db, { kind: 'pipeline', id, pipeline_id: id, status })
    if (payload) await fireHooks(ctx, project, 'pipeline', () => payload)
  })
}

async function tellJob(
  ctx: Ctx,
  project: Project,
  pipeline: PipelineRow,
  job: JobRow,
): Promise<void> {
  const { id, status } = job
  const retries = await countRetries(ctx.db, pipeline.id, job.name)
  const payload = await jobPayload(ctx, project, { pipeline, job, retries })
  await inTransaction(ctx, async (ctx) => {
    await saveTold(ctx.db, { kind: 'job', id, pipeline_id: pipeline.id, status })
    await fireHooks(ctx, project, 'job', () => payload)
  })
}
