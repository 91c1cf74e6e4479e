import { call, may } from '../../http/call/call.ts'
import type { DataOf } from '../../http/endpoint.ts'
import { renderMarkdown } from '../../markdown/render.ts'
import { createRepositoryBranch } from '../../repositories/branches/endpoints.ts'
import {
  getMergeRequestApprovalState,
  getMergeRequestApprovals,
} from '../../review/approvals/request-endpoints.ts'
import { resolveMergeRequestConflicts } from '../../review/merge-requests/conflicts/endpoints.ts'
import {
  getProjectMergeRequest,
  updateProjectMergeRequest,
} from '../../review/merge-requests/endpoints.ts'
import { watchedRequests } from '../../review/merge-requests/live/queries.ts'
import { getMergeMessages, mergeMergeRequest } from '../../review/merge-requests/merge/endpoints.ts'
import { liveStateOf } from '../../store/live/follow-rows.ts'
import type { PageCtx } from '../page-ctx.ts'
import type { ProjectData } from '../project/frame.tsx'
import { noneIfRefused } from '../refused.ts'
import { canMerge } from './merge-box.tsx'
import { readThreads } from './overview-threads.ts'

export type ApprovalRules = DataOf<typeof getMergeRequestApprovalState>['rules']

/** What the page of a merge request and each of its parts show. */
export async function readRequest(ctx: PageCtx, project: ProjectData, iid: string, page: number) {
  const path = { id: project.id, merge_request_iid: iid }
  const signedIn = ctx.actor.kind === 'user'
  const query = { include_rebase_in_progress: true, include_diverged_commits_count: true }
  const request = await call(getProjectMergeRequest, ctx, { path, query })
  // Before all that is read: what changes meanwhile is sent to the page.
  const seen = await liveStateOf(ctx, watchedRequests, request.id)
  const [approvals, rules, threads, edit, merge, branch, resolve] = await Promise.all([
    signedIn ? call(getMergeRequestApprovals, ctx, { path }) : undefined,
    signedIn ? call(getMergeRequestApprovalState, ctx, { path }) : undefined,
    readThreads(ctx, project, request, page),
    may(updateProjectMergeRequest, ctx, { path }),
    may(mergeMergeRequest, ctx, { path }),
    may(createRepositoryBranch, ctx, { path: { id: project.id } }),
    request.has_conflicts && may(resolveMergeRequestConflicts, ctx, { path }),
  ])
  // It may have been pushed to, or merged, since it was read.
  const messages =
    merge && request.state === 'opened' && canMerge(request)
      ? await call(getMergeMessages, ctx, { path }).catch(noneIfRefused)
      : undefined
  const text = request.description ?? ''
  const html = text && (await renderMarkdown(ctx, text, project.path_with_namespace))
  return {
    ...{ request, approvals, threads, html, page, seen, messages },
    rules: rules?.rules ?? [],
    may: { edit, merge, branch, resolve },
  }
}

export type RequestView = Awaited<ReturnType<typeof readRequest>>
