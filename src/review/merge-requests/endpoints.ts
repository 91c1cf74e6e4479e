import { z } from 'zod'
import { userOf } from '../../access/actor.ts'
import { fieldsIgnoredUnless, fieldsNeed } from '../../access/conditions.ts'
import { anyone, onGroup, onProject } from '../../access/subjects.ts'
import { unauthorized } from '../../base/problem.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { atLeastOne, flag } from '../../http/params.ts'
import { removeOwnRef } from '../../repositories/refs/own-refs.ts'
import { inTransaction } from '../../store/transaction.ts'
import {
  lendsSource,
  onMergeRequest,
  opensRequest,
  sortFields,
  sortsRequest,
  targetOfNew,
} from './access.ts'
import { headRef, trialRef } from './branch-heads.ts'
import { createBody, updateBody } from './change/body-params.ts'
import { editMergeRequest, openMergeRequest } from './change/open.ts'
import { prepare } from './diff/prepared.ts'
import { listedMergeRequestEntity, mergeRequestEntity } from './entity.ts'
import { recheckIfDue } from './jobs.ts'
import { listVisibleMergeRequests } from './list/list-merge-requests.ts'
import { listParams } from './list/params.ts'
import { path } from './path.ts'
import { presentMergeRequest } from './present-single.ts'
import { deleteMergeRequest } from './queries.ts'
import type { MergeRequestRow } from './row.ts'

const single = {
  include_diverged_commits_count: flag().optional(),
  include_rebase_in_progress: flag().optional(),
  render_html: flag().optional(),
}

export const listAllMergeRequests = endpoint({
  method: 'GET',
  path: '/merge_requests',
  summary:
    'List merge requests everywhere; those that the caller created unless the query says otherwise',
  access: anyone(),
  query: listParams,
  paginate: 'offset',
  response: z.array(listedMergeRequestEntity),
  handler({ ctx, query, page }) {
    const named = query.author_id ?? query.author_username
    const scope = query.scope ?? (named === undefined ? 'created_by_me' : 'all')
    if (scope !== 'all' && !userOf(ctx.actor)) throw unauthorized()
    return listVisibleMergeRequests(ctx, { path: null }, { ...query, scope }, page)
  },
})

export const listGroupMergeRequests = endpoint({
  method: 'GET',
  path: '/groups/:id/merge_requests',
  summary: 'List the merge requests of a group and of its subgroups',
  access: onGroup('read_merge_requests'),
  query: listParams,
  paginate: 'offset',
  response: z.array(listedMergeRequestEntity),
  handler: ({ ctx, group, query, page }) =>
    listVisibleMergeRequests(
      ctx,
      { groupId: group.id, path: group.full_path },
      { ...query, non_archived: query.non_archived ?? true },
      page,
    ),
})

export const listProjectMergeRequests = endpoint({
  method: 'GET',
  path: '/projects/:id/merge_requests',
  summary: 'List the merge requests of a project',
  access: onProject('read_merge_requests'),
  jobToken: true,
  query: listParams,
  paginate: 'offset',
  response: z.array(listedMergeRequestEntity),
  handler: ({ ctx, project, query, page }) =>
    listVisibleMergeRequests(ctx, { projectId: project.id }, query, page),
})

export const createProjectMergeRequest = endpoint({
  method: 'POST',
  path: '/projects/:id/merge_requests',
  summary: 'Open a merge request from a branch of the project',
  access: onProject('create_merge_request_from'),
  body: createBody,
  conditions: [opensRequest, sortsRequest],
  response: mergeRequestEntity,
  async handler({ ctx, project, body }) {
    const target = await targetOfNew({ ctx, project, body })
    return presentMergeRequest(ctx, target, await openMergeRequest(ctx, project, target, body))
  },
})

export const getProjectMergeRequest = endpoint({
  method: 'GET',
  path,
  summary: 'Get a merge request; has its mergeability checked when that is due',
  access: onMergeRequest(),
  jobToken: true,
  query: single,
  response: mergeRequestEntity,
  async handler({ ctx, project, mergeRequest, query, request }) {
    const row = await prepare(ctx, mergeRequest, request.signal)
    return presentMergeRequest(ctx, project, await recheckIfDue(ctx, row), {
      diverged: query.include_diverged_commits_count,
      rebase: query.include_rebase_in_progress,
      html: query.render_html,
    })
  },
})

export const updateProjectMergeRequest = endpoint({
  method: 'PUT',
  path,
  summary: 'Change, close or reopen a merge request',
  access: onMergeRequest('edit_merge_request', { signedIn: true }),
  body: updateBody,
  check: atLeastOne(Object.keys(updateBody)),
  conditions: [
    lendsSource,
    fieldsNeed('update_merge_request', ['discussion_locked']),
    fieldsIgnoredUnless('update_merge_request', [...sortFields, 'remove_labels']),
  ],
  response: mergeRequestEntity,
  handler: async ({ ctx, project, mergeRequest: row, body }) =>
    presentMergeRequest(ctx, project, await editMergeRequest(ctx, project, row, body)),
})

export const deleteProjectMergeRequest = endpoint({
  method: 'DELETE',
  path,
  summary: 'Delete a merge request',
  access: onMergeRequest('delete_merge_request', { signedIn: true }),
  async handler({ ctx, mergeRequest: row, request }) {
    assertUnmodifiedSince(request, row.updated_at)
    await removeMergeRequest(ctx, row)
  },
})

/** Deletes a merge request with all that hangs on it, and the refs that kept its commits. */
async function removeMergeRequest(ctx: Ctx, row: MergeRequestRow): Promise<void> {
  await inTransaction(ctx, (ctx) => deleteMergeRequest(ctx.db, row.id))
  const repo = ctx.git.open(row.target_project_id)
  await removeOwnRef(repo, headRef(row))
  await removeOwnRef(repo, trialRef(row))
}
