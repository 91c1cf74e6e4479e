import { z } from 'zod'
import { notFound } from '../../../base/problem.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { filledText } from '../../../http/params.ts'
import { callerId } from '../../../identity/users/find-user.ts'
import { onMergeRequest } from '../access.ts'
import { path } from '../path.ts'
import { deleteViewed, listViewed, saveViewed, type ViewedRow } from './queries.ts'
import { filesOf, findRange, versionQuery } from './range.ts'

/** Marks are their owner's alone; whoever may read the merge request may make them. */
const access = onMergeRequest(undefined, { signedIn: true })
const viewed = `${path}/viewed_files`
const filePath = filledText({ max: 4096 })

const viewedEntity = z.strictObject({
  path: z.string(),
  version_id: z.int(),
  viewed_at: z.string(),
})

function present({ path, version_id, viewed_at }: ViewedRow): z.input<typeof viewedEntity> {
  return { path, version_id, viewed_at }
}

export const listViewedFiles = endpoint({
  method: 'GET',
  path: viewed,
  summary: 'List the files of a merge request that the caller has marked as viewed',
  access,
  response: z.array(viewedEntity),
  async handler({ ctx, mergeRequest }) {
    return (await listViewed(ctx.db, mergeRequest.id, callerId(ctx))).map((row) => present(row))
  },
})

export const markViewedFile = endpoint({
  method: 'PUT',
  path: viewed,
  summary: 'Mark a file of a merge request as looked at',
  access,
  body: { path: filePath, version_id: versionQuery.version_id },
  response: viewedEntity,
  async handler({ ctx, project, mergeRequest, body, request: { signal } }) {
    const range = await findRange(ctx, mergeRequest, { version_id: body.version_id }, signal)
    const files = range ? await filesOf(ctx, project.id, range, signal) : []
    const file = files.find(({ newPath }) => newPath === body.path)
    if (!range || !file) throw notFound('File')
    const row = await saveViewed(ctx.db, {
      merge_request_id: mergeRequest.id,
      user_id: callerId(ctx),
      path: body.path,
      version_id: range.version.id,
      blob_id: file.newId,
      viewed_at: ctx.now(),
    })
    return present(row)
  },
})

export const unmarkViewedFile = endpoint({
  method: 'DELETE',
  path: viewed,
  summary: 'Unmark a viewed file',
  access,
  query: { path: filePath },
  async handler({ ctx, mergeRequest, query }) {
    const at = { mergeRequestId: mergeRequest.id, userId: callerId(ctx), path: query.path }
    if (!(await deleteViewed(ctx.db, at))) throw notFound('File')
  },
})
