import { actAs } from '../../access/act-as.ts'
import { findProjectWithRole } from '../../access/subjects.ts'
import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import { refusalOfPushes } from '../../repositories/refs/access.ts'
import { diffChangedJob } from '../../review/merge-requests/jobs.ts'
import { enqueueAutoMerges } from '../../review/merge-requests/merge/auto-merge-wait.ts'
import { findById, findMoverOf } from '../../review/merge-requests/queries.ts'
import type { MergeRequestRow } from '../../review/merge-requests/row.ts'
import { createEventPipeline } from '../pipelines/create/event-pipeline.ts'
import { asksToSkip } from '../pipelines/create/push-options.ts'
import { findRequestRun } from './create-for-request.ts'
import { hasRequestPipeline } from './queries.ts'

/** Runs the pipeline that a configuration has for merge requests, once for each head. */
export const runForRequest = task({
  ...diffChangedJob,
  async handler(given: Ctx, payload) {
    const row = await findById(given.db, payload.id)
    if (row) await runForDiff(await actAs(given, await userFor(given, row, payload)), row, payload)
    await enqueueAutoMerges(given, { mergeRequestId: payload.id })
  },
})

/** Of a fork, whoever brought the head to it: others, who open the request again for example, may not know what it does. */
async function userFor(
  { db }: Pick<Ctx, 'db'>,
  row: MergeRequestRow,
  { user_id, head_sha }: { readonly user_id: number | null; readonly head_sha: string },
): Promise<number | null> {
  const { source_project_id: sourceId, target_project_id: targetId, author_id: author } = row
  if (sourceId === null || sourceId === targetId) return user_id
  return (await findMoverOf(db, sourceId, `refs/heads/${row.source_branch}`, head_sha)) ?? author
}

/** Whoever may push only since the merge request allows collaboration has brought what others wrote as well, by a rebase for example: they run it by hand. */
async function mayOnlyCollaborate(ctx: Ctx, row: MergeRequestRow): Promise<boolean> {
  const source = await findProjectWithRole(ctx, row.source_project_id)
  return source !== undefined && refusalOfPushes(ctx, source) !== undefined
}

async function runForDiff(
  ctx: Ctx,
  row: MergeRequestRow,
  { id, head_sha }: { readonly id: number; readonly head_sha: string },
): Promise<void> {
  // A head that came meanwhile has a task of its own.
  if (row.state !== 'opened' || row.head_sha !== head_sha || ctx.actor.kind !== 'user') return
  if (await mayOnlyCollaborate(ctx, row)) return
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
