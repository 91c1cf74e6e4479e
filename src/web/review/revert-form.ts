import { call } from '../../http/call/call.ts'
import {
  createRepositoryBranch,
  deleteRepositoryBranch,
} from '../../repositories/branches/endpoints.ts'
import { cherryPickCommit, revertCommit } from '../../repositories/commits/write-endpoints.ts'
import { getProjectMergeRequest } from '../../review/merge-requests/endpoints.ts'
import { withQuery } from '../address.ts'
import { actForm } from '../form.ts'
import { requestOf } from './forms.ts'
import { requestAddress } from './state.tsx'

/** Takes a merged merge request back, or applies it elsewhere: on a new branch, for a new merge request. */
export const revertMergeRequest = actForm({
  address: '/*project/-/merge_requests/:iid/revert',
  summary: 'Revert or cherry-pick a merged merge request on a new branch',
  async act({ ctx, path, fields }) {
    const request = await call(getProjectMergeRequest, ctx, { path: requestOf(path) })
    const sha = String(fields.sha ?? '')
    const isRevert = fields.kind !== 'cherry-pick'
    const onto = isRevert || !fields.onto ? request.target_branch : String(fields.onto)
    const branch = `${isRevert ? 'revert' : 'cherry-pick'}-${sha.slice(0, 8)}`
    const at = { id: path.project }
    await call(createRepositoryBranch, ctx, { path: at, body: { branch, ref: onto } })
    try {
      const commit = { path: { ...at, sha }, body: { branch } }
      await (isRevert ? call(revertCommit, ctx, commit) : call(cherryPickCommit, ctx, commit))
    } catch (error) {
      // A branch without the change would be in the way of the next try.
      await call(deleteRepositoryBranch, ctx, { path: { ...at, branch } })
      throw error
    }
    const project = { path_with_namespace: path.project }
    return withQuery(requestAddress(project, 'new'), {
      'merge_request[source_branch]': branch,
      'merge_request[target_branch]': onto,
      'merge_request[title]': isRevert ? `Revert "${request.title}"` : request.title,
    })
  },
})
