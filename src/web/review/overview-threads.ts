import { call, may } from '../../http/call/call.ts'
import { mergeRequestThreads } from '../../review/merge-requests/threads.ts'
import type { PageCtx } from '../page-ctx.ts'
import type { ProjectData } from '../project/frame.tsx'
import type { ChangeSet } from './changes/change-set.ts'
import { mayApplySuggestions } from './changes/file-talk.ts'
import { showThreads } from './threads-data.ts'

export const THREADS = 50

/** A page of the threads of a merge request, and what this person may do in them. */
export async function readThreads(
  ctx: PageCtx,
  project: ProjectData,
  request: ChangeSet['request'],
  page: number,
) {
  const path = { id: project.id, merge_request_iid: request.iid }
  const query = { per_page: THREADS, page }
  const mayRead = await may(mergeRequestThreads.listThreads, ctx, { path })
  if (!mayRead) return { mayRead, threads: [], total: 0, mayComment: false, mayApply: false }
  const [{ items, total }, mayComment, mayApply] = await Promise.all([
    call(mergeRequestThreads.listThreads, ctx, { path, query }),
    may(mergeRequestThreads.beginThread, ctx, { path }),
    mayApplySuggestions(ctx, { request }),
  ])
  const threads = await showThreads(ctx, project, path, items)
  return { mayRead, threads, total, mayComment, mayApply }
}
