import { invalidText } from '../../base/problem.ts'
import { isObjectId } from '../../git/names.ts'
import { findTreeEntry } from '../../git/objects/tree.ts'
import { endpoint } from '../../http/endpoint.ts'
import { filledText, text } from '../../http/params.ts'
import { createCommit } from '../commits/create-commit.ts'
import { describeCommit } from '../commits/describe-commit.ts'
import { commitDetailEntity } from '../commits/entity.ts'
import { filePath } from '../files/file-path.ts'
import { onPush, pushesBranch } from '../repository/access.ts'
import { ifFound } from '../repository/missing.ts'

export const updateSubmodule = endpoint({
  method: 'PUT',
  path: '/projects/:id/repository/submodules/:submodule',
  summary: 'Point a submodule at another commit',
  access: onPush(),
  params: { submodule: filePath() },
  body: { branch: filledText(), commit_sha: filledText(), commit_message: text().optional() },
  conditions: [pushesBranch],
  response: commitDetailEntity,
  async handler({ ctx, project, repo, params, body }) {
    const { submodule: path } = params
    const { branch } = body
    const commitId = body.commit_sha.toLowerCase()
    if (!isObjectId(commitId)) throw invalidText('Invalid parameters')
    const entry = await ifFound(findTreeEntry(repo, { ref: `refs/heads/${branch}`, path }))
    if (entry?.type !== 'commit') throw invalidText('Invalid submodule path')
    if (entry.id === commitId) {
      throw invalidText(`The submodule ${path} is already at ${commitId}`)
    }
    const { commit } = await createCommit(ctx, project, {
      branch,
      force: false,
      message: body.commit_message || `Update submodule ${path} with oid ${commitId}`,
      actions: [{ kind: 'submodule', path, commitId }],
    })
    return await describeCommit(ctx, project, commit, { stats: true })
  },
})
