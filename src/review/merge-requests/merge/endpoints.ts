import { z } from 'zod'
import { methodNotAllowed } from '../../../base/problem.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { flag, text } from '../../../http/params.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { mergesIntoTarget, onMergeRequest } from '../access.ts'
import { mergeRequestEntity } from '../entity.ts'
import { path } from '../path.ts'
import { presentMergeRequest } from '../present-single.ts'
import { acceptMerge } from './accept-merge.ts'
import { cancelAutoMerge } from './auto-merge.ts'
import { messagesOfCaller } from './preset-messages.ts'
import { enqueueRebase } from './rebase.ts'
import { buildTrialMerge } from './trial-merge.ts'

// Commit messages of several hundred kilobytes occur.
const longMessage = { max: 1_048_576 }

export const mergeMergeRequest = endpoint({
  method: 'PUT',
  path: `${path}/merge`,
  summary: 'Merge a merge request, now or when nothing stands in its way any more',
  access: onMergeRequest(undefined, { signedIn: true }),
  body: {
    merge_commit_message: text(longMessage).optional(),
    squash_commit_message: text(longMessage).optional(),
    squash: flag().optional(),
    should_remove_source_branch: flag().optional(),
    auto_merge: flag().optional(),
    merge_when_pipeline_succeeds: flag().optional(),
    sha: text({ max: 64 }).optional(),
    skip_merge_train: flag().optional(),
  },
  conditions: [mergesIntoTarget],
  response: mergeRequestEntity,
  async handler({ ctx, project, mergeRequest: row, body }) {
    const options = {
      mergeMessage: body.merge_commit_message,
      squashMessage: body.squash_commit_message,
      squash: body.squash,
      removeSourceBranch: body.should_remove_source_branch,
      sha: body.sha,
    }
    const wait = body.auto_merge ?? body.merge_when_pipeline_succeeds ?? false
    return presentMergeRequest(ctx, project, await acceptMerge(ctx, project, row, options, wait))
  },
})

export const cancelMergeWhenPipelineSucceeds = endpoint({
  method: 'POST',
  path: `${path}/cancel_merge_when_pipeline_succeeds`,
  summary: 'Stop a merge request from being merged by itself',
  access: onMergeRequest(undefined, { signedIn: true }),
  conditions: [mergesIntoTarget],
  response: z.strictObject({ status: z.literal('success') }),
  async handler({ ctx, project, mergeRequest: row }) {
    if (row.state !== 'opened' || row.auto_merge_sha === null) throw methodNotAllowed()
    await inTransaction(ctx, (ctx) => cancelAutoMerge(ctx, project, row))
    return { status: 'success' } as const
  },
})

export const rebaseMergeRequest = endpoint({
  method: 'PUT',
  path: `${path}/rebase`,
  summary: 'Have the source branch moved onto the target',
  access: onMergeRequest('edit_merge_request', { signedIn: true }),
  body: { skip_ci: flag().optional() },
  response: z.strictObject({ rebase_in_progress: z.boolean() }),
  status: 202,
  async handler({ ctx, mergeRequest: row, body }) {
    await enqueueRebase(ctx, row, body.skip_ci)
    return { rebase_in_progress: true }
  },
})

export const getMergeMessages = endpoint({
  method: 'GET',
  path: `${path}/merge_messages`,
  summary:
    'Get what the commits of a merge by the caller would say, where the caller says nothing else',
  access: onMergeRequest(undefined, { signedIn: true }),
  response: z.strictObject({
    merge_commit_message: z.string().nullable(),
    squash_commit_message: z.string().nullable(),
  }),
  async handler({ ctx, mergeRequest: row }) {
    const { merge, squash, method, squashes } = await messagesOfCaller(ctx, row)
    return {
      merge_commit_message: method === 'ff' ? null : merge,
      squash_commit_message: squashes === 'never' ? null : squash,
    }
  },
})

export const getMergeRef = endpoint({
  method: 'GET',
  path: `${path}/merge_ref`,
  summary: 'Build the trial merge and get its commit',
  access: onMergeRequest(),
  response: z.strictObject({ commit_id: z.string() }),
  async handler({ ctx, mergeRequest: row }) {
    return { commit_id: await buildTrialMerge(ctx, row) }
  },
})
