import { z } from 'zod'
import { actAs } from '../../../access/act-as.ts'
import { task } from '../../../background/task.ts'
import type { Ctx } from '../../../ctx.ts'
import { refsPushed } from '../../../repositories/refs/pushed-task.ts'
import { enqueueAutoMerges } from '../../../review/merge-requests/merge/auto-merge-wait.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { startPipeline } from '../create/create-pipeline.ts'
import { pipelinesAfterPushes } from '../create/push-pipelines.ts'
import { findJobById } from '../job-queries.ts'
import { findPipeline, findSource } from '../queries.ts'
import { removeOutlived } from '../remove-pipeline.ts'
import { endJob, failPipeline } from './change-jobs.ts'
import { enqueueJobs, processPipeline } from './process.ts'
import { runBridge } from './run-bridge.ts'
import { bridgeJob, delayedJob, finishedDownstream, startedPipeline } from './task-names.ts'
import { FINISHED } from './update-status.ts'

/** How a job ends that the server could not go on with. */
const BY_FAULT = { status: 'failed', reason: 'unknown_failure' } as const

/** Starts a delayed job when its time has come, unless somebody started or ended it before. */
export const startDelayedJob = task({
  ...delayedJob,
  async handler(ctx: Ctx, { job_id }) {
    await inTransaction(ctx, async (ctx) => {
      const job = await findJobById(ctx.db, job_id)
      if (job?.status !== 'scheduled') return
      if (job.scheduled_at !== null && job.scheduled_at > ctx.now()) return
      await enqueueJobs(ctx, [job])
      await processPipeline(ctx, job.pipeline_id)
    })
  },
  async givenUp(ctx, { job_id }) {
    const job = await findJobById(ctx.db, job_id)
    if (job?.status === 'scheduled') await endJob(ctx, job, BY_FAULT)
  },
})

/** Makes the pipeline that a bridge job asks for, in the name of whoever ran the job. */
export const startBridge = task({
  ...bridgeJob,
  lane: 'slow',
  async handler(ctx: Ctx, { job_id }) {
    const job = await findJobById(ctx.db, job_id)
    if (job?.status !== 'pending') return
    const { actor } = await actAs(ctx, job.user_id)
    // Whoever ran it may be blocked or gone by now, and nobody else stands for them.
    if (actor.kind === 'user' && actor.user.state === 'active') {
      await runBridge({ ...ctx, actor }, job)
    } else {
      await endJob(ctx, job, { status: 'failed', reason: 'insufficient_bridge_permissions' })
    }
  },
  async givenUp(ctx, { job_id }) {
    const job = await findJobById(ctx.db, job_id)
    if (job?.status === 'pending') await endJob(ctx, job, BY_FAULT)
  },
})

/** Ends a bridge that waited for its pipeline as the pipeline ended. */
export const finishBridge = task({
  ...finishedDownstream,
  async handler(ctx: Ctx, { pipeline_id }) {
    const pipeline = await findPipeline(ctx.db, pipeline_id)
    const source = await findSource(ctx.db, pipeline_id)
    if (!pipeline || source?.status !== 'running') return
    const { status } = pipeline
    const bridge = { id: source.job_id, pipeline_id: source.pipeline_id }
    if (status === 'success' || status === 'skipped')
      await endJob(ctx, bridge, { status: 'success' })
    else if (status === 'canceled') await endJob(ctx, bridge, { status })
    else if (status === 'failed') await endJob(ctx, bridge, BY_FAULT)
  },
  async givenUp(ctx, { pipeline_id }) {
    const pipeline = await findPipeline(ctx.db, pipeline_id)
    const source = await findSource(ctx.db, pipeline_id)
    if (!pipeline || source?.status !== 'running' || !FINISHED.includes(pipeline.status)) return
    await endJob(ctx, { id: source.job_id, pipeline_id: source.pipeline_id }, BY_FAULT)
  },
})

/** Goes on with a pipeline whose making a crash broke off. */
export const resumePipeline = task({
  ...startedPipeline,
  async handler(ctx: Ctx, { pipeline_id }) {
    if (await findPipeline(ctx.db, pipeline_id)) await startPipeline(ctx, pipeline_id)
  },
  async givenUp(ctx, { pipeline_id }) {
    const pipeline = await findPipeline(ctx.db, pipeline_id)
    if (pipeline?.status === 'created') await failPipeline(ctx, pipeline_id)
  },
})

/** Deletes pipelines that are older than their projects keep them. */
export const removeOldPipelines = task({
  name: 'pipelines.remove_old',
  payload: z.object({}),
  lane: 'slow',
  handler: (ctx: Ctx) => removeOutlived(ctx),
})

/** Pipelines of the branches and tags that pushes left. */
export const runAfterPush = task({
  ...refsPushed,
  async handler(ctx: Ctx, { push_ids }, signal) {
    await pipelinesAfterPushes(ctx, push_ids, signal)
    await enqueueAutoMerges(ctx, { pushIds: push_ids })
  },
})
