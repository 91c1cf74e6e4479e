import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { updateMergeRequest } from './queries.ts'
import type { MergeRequestRow } from './row.ts'

const id = z.number().int()
const userId = id.nullable()

/** Names and payloads of the tasks, apart from their work: who enqueues one must not depend on what it does. */
export const refreshJob = {
  name: 'merge_requests.refresh',
  payload: z.object({
    id,
    user_id: userId,
    /** A new version even for the same head: the target is another one. */
    anew: z.boolean().optional(),
  }),
}

export const checkJob = { name: 'merge_requests.check', payload: z.object({ id }) }

export const rebaseJob = {
  name: 'merge_requests.rebase',
  payload: z.object({ id, user_id: id, skip_ci: z.boolean().optional() }),
}

export const afterMergeJob = {
  name: 'merge_requests.after_merge',
  payload: z.object({ id, user_id: userId, remove_source_branch: z.boolean() }),
}

export const autoMergeJob = { name: 'merge_requests.auto_merge', payload: z.object({ id }) }

export const descriptionJob = {
  name: 'merge_requests.description',
  payload: z.object({ id, user_id: userId }),
}

/** Has a merge request looked at again when that is due, as a single read does (docs/contract/D §1.10 Preparation). */
export async function recheckIfDue(ctx: Ctx, row: MergeRequestRow): Promise<MergeRequestRow> {
  if (row.state !== 'opened') return row
  const due = row.merge_status === 'unchecked' || row.merge_status === 'cannot_be_merged_recheck'
  if (!due) return row
  const merge_status = row.merge_status === 'unchecked' ? 'checking' : 'cannot_be_merged_rechecking'
  await inTransaction(ctx, async (ctx) => {
    await updateMergeRequest(ctx.db, row.id, { merge_status })
    await enqueueCheck(ctx, row.id)
  })
  return { ...row, merge_status }
}

export async function enqueueCheck(ctx: Ctx, id: number): Promise<void> {
  await ctx.work.enqueue(ctx.db, checkJob, { id }, { uniqueKey: `check ${id}` })
}

/** A merge request has a new diff: CI runs the pipeline that its configuration has for merge requests. */
export const diffChangedJob = {
  name: 'ci.pipelines_of_merge_request',
  payload: z.object({ id, user_id: userId, head_sha: z.string() }),
}
