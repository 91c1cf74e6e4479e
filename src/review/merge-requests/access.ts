import { userOf } from '../../access/actor.ts'
import { projectRecord } from '../../access/records.ts'
import { noteableConditions } from '../../discussions/notes/access.ts'
import { integer } from '../../http/params.ts'
import { getMergeRequest, noteableOf } from './find.ts'

/** The merge request of `:merge_request_iid`. */
export const onMergeRequest = projectRecord('read_merge_requests', {
  params: { merge_request_iid: integer() },
  find: async ({ ctx, project, params }) => ({
    mergeRequest: await getMergeRequest(ctx, project, params.merge_request_iid),
  }),
  conditions: ({ ctx, project, mergeRequest }) => ({
    ...noteableConditions(noteableOf(ctx, project, mergeRequest)),
    author: mergeRequest.author_id !== null && mergeRequest.author_id === userOf(ctx.actor)?.id,
  }),
})
