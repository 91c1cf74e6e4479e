import { z } from 'zod'
import { findProjectWithRole } from '../../access/subjects.ts'
import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import { applyDescription } from './change/open.ts'
import { refreshMergeRequest } from './diff/refresh.ts'
import {
  afterMergeJob,
  autoMergeJob,
  checkJob,
  descriptionJob,
  enqueueCheck,
  rebaseJob,
  refreshJob,
} from './jobs.ts'
import { afterMerge } from './merge/after-merge.ts'
import { autoMergeIfReady, runAutoMerges } from './merge/auto-merge-run.ts'
import { checkMergeability, giveUpCheck } from './merge/check.ts'
import { giveUpRebase, runRebase } from './merge/rebase.ts'
import { findById } from './queries.ts'

/** Whoever deletes a project does not wait for what is being done for its merge requests: it ends quietly. */
async function unlessGone(ctx: Ctx, id: number, act: () => Promise<unknown>): Promise<void> {
  try {
    await act()
  } catch (error) {
    const row = await findById(ctx.db, id)
    if (row && (await findProjectWithRole(ctx, row.target_project_id))) throw error
  }
}

/** Computes the first diff of a new merge request, or the next one after a push. */
export const refresh = task({
  ...refreshJob,
  async handler(ctx: Ctx, { id, user_id, anew = false }, signal) {
    await unlessGone(ctx, id, async () => {
      await refreshMergeRequest(ctx, id, { userId: user_id, anew }, signal)
      await enqueueCheck(ctx, id)
    })
  },
})

/** Finds out whether a merge request can be merged, and merges it when somebody waits for that. */
export const check = task({
  ...checkJob,
  attempts: 5,
  async handler(ctx: Ctx, { id }, signal) {
    await unlessGone(ctx, id, () => checkMergeability(ctx, id, signal))
    const row = await findById(ctx.db, id)
    if (row?.auto_merge_sha) await ctx.work.enqueue(ctx.db, autoMergeJob, { id })
  },
  givenUp: (ctx, { id }) => giveUpCheck(ctx, id),
})

/** Merges what auto-merge was set for, when nothing stands in the way any more. */
export const autoMerge = task({
  ...autoMergeJob,
  attempts: 5,
  handler: (ctx: Ctx, { id }) => autoMergeIfReady(ctx, id),
})

/** Moves the source branch onto the target. */
export const rebase = task({
  ...rebaseJob,
  attempts: 3,
  handler: (ctx: Ctx, { id, user_id, skip_ci }, signal) =>
    unlessGone(ctx, id, () => runRebase(ctx, id, { userId: user_id, skipCi: skip_ci }, signal)),
  givenUp: (ctx, { id }, reason) => giveUpRebase(ctx, id, reason),
})

/** What follows from a merge and needs git: the source branch goes. */
export const merged = task({
  ...afterMergeJob,
  handler: (ctx: Ctx, payload) => afterMerge(ctx, payload),
})

/** Looks after all that wait to be merged: what they wait for may happen without an effect that says so. */
export const autoMerges = task({
  name: 'merge_requests.auto_merges',
  payload: z.object({}),
  attempts: 1,
  handler: (ctx: Ctx) => runAutoMerges(ctx),
})

/** Carries out the quick actions of a description that came with a push. */
export const description = task({
  ...descriptionJob,
  attempts: 1,
  handler: (ctx: Ctx, payload) => applyDescription(ctx, payload.id, payload.user_id),
})
