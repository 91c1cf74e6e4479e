import {
  approveMergeRequest,
  unapproveMergeRequest,
} from '../../review/approvals/request-endpoints.ts'
import { updateProjectMergeRequest } from '../../review/merge-requests/endpoints.ts'
import {
  cancelMergeWhenPipelineSucceeds,
  mergeMergeRequest,
  rebaseMergeRequest,
} from '../../review/merge-requests/merge/endpoints.ts'
import { mergeRequestThreads } from '../../review/merge-requests/threads.ts'
import { form } from '../form.ts'
import { messagesIn } from './merge-box.tsx'

const { beginThread, resolveThread } = mergeRequestThreads

export const requestOf = (path: { readonly project: string; readonly iid: string }) => ({
  id: path.project,
  merge_request_iid: path.iid,
})

/** What people do with a merge request: each calls one endpoint, and leads back to where it stood. */
export const requestForms = [
  form({
    address: '/*project/-/merge_requests/:iid/update',
    summary: 'Change, close or reopen a merge request',
    endpoint: updateProjectMergeRequest,
    input: ({ path, fields: { title, state_event } }) => ({
      path: requestOf(path),
      body: { title, state_event },
    }),
    flash: 'The merge request was changed.',
  }),
  form({
    address: '/*project/-/merge_requests/:iid/merge',
    summary: 'Merge a merge request',
    endpoint: mergeMergeRequest,
    input: ({ path, fields }) => {
      const { sha, squash, auto_merge, should_remove_source_branch } = fields
      const chosen = { sha, squash, auto_merge, should_remove_source_branch }
      return { path: requestOf(path), body: { ...chosen, ...messagesIn(fields) } }
    },
    flash: ({ state }) =>
      state === 'merged'
        ? 'The merge request was merged.'
        : 'It is merged as soon as nothing stands in its way.',
  }),
  form({
    address: '/*project/-/merge_requests/:iid/cancel_auto_merge',
    summary: 'Stop a merge request from being merged by itself',
    endpoint: cancelMergeWhenPipelineSucceeds,
    input: ({ path }) => ({ path: requestOf(path) }),
    flash: 'It is not merged by itself any more.',
  }),
  form({
    address: '/*project/-/merge_requests/:iid/rebase',
    summary: 'Rebase the source branch of a merge request',
    endpoint: rebaseMergeRequest,
    input: ({ path }) => ({ path: requestOf(path) }),
    flash: 'The source branch is being rebased.',
  }),
  form({
    address: '/*project/-/merge_requests/:iid/approve',
    summary: 'Approve a merge request',
    endpoint: approveMergeRequest,
    input: ({ path, fields: { sha, approval_password } }) => ({
      path: requestOf(path),
      body: { sha, approval_password },
    }),
    flash: 'You approved the merge request.',
  }),
  form({
    address: '/*project/-/merge_requests/:iid/unapprove',
    summary: 'Take the own approval of a merge request back',
    endpoint: unapproveMergeRequest,
    input: ({ path }) => ({ path: requestOf(path) }),
    flash: 'You took your approval back.',
  }),
  form({
    address: '/*project/-/merge_requests/:iid/discussions',
    summary: 'Comment on a merge request',
    endpoint: beginThread,
    input: ({ path, fields: { body } }) => ({ path: requestOf(path), body: { body } }),
  }),
  form({
    address: '/*project/-/merge_requests/:iid/discussions/:discussion/resolve',
    summary: 'Resolve or reopen a thread of a merge request',
    endpoint: resolveThread,
    input: ({ path, fields: { resolved } }) => {
      const thread = { ...requestOf(path), discussion_id: path.discussion }
      return { path: thread, body: { resolved } }
    },
  }),
] as const
