import { actAs } from '../../access/act-as.ts'
import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import { diffChangedJob } from '../../review/merge-requests/jobs.ts'
import { enqueueAutoMerges } from '../../review/merge-requests/merge/auto-merge-wait.ts'
import { findById } from '../../review/merge-requests/queries.ts'
import { createEventPipeline } from '../pipelines/create/event-pipeline.ts'
import { asksToSkip } from '../pipelines/create/push-options.ts'
import { findRequestRun } from './create-for-request.ts'
import { hasRequestPipeline } from './queries.ts'

/** Runs the pipeline that a configuration has for merge requests, once for each head. */
export const runForRequest = task({
  ...diffChangedJob,
  async handler(given: Ctx, payload) {
    await runForDiff(await actAs(given, payload.user_id), payload)
    await enqueueAutoMerges(given, { mergeRequestId: payload.id })
  },
})

async function runForDiff(
  ctx: Ctx,
  { id, head_sha }: { readonly id: number; readonly head_sha: string },
): Promise<void> {
  const row = await findById(ctx.db, id)
  // A head that came meanwhile has a task of its own.
  if (row?.state !== 'opened' || row.head_sha !== head_sha || ctx.actor.kind !== 'user') return
  const run = await findRequestRun(ctx, row)
  if (!run || run.request.sourceSha !== head_sha) return
  await createEventPipeline(ctx, run.project, run.at, {
    ref: run.at.ref,
    source: 'merge_request_event',
    variables: [],
    inputs: {},
    request: run.request,
    skipped: asksToSkip(run.message),
    claim: async (ctx) => !(await hasRequestPipeline(ctx.db, id, head_sha)),
    showsFaults: false,
  })
}
