import { badRequest } from '../../base/problem.ts'
import { text } from '../../http/params.ts'
import { discussionEndpoints } from '../notes/discussion-routes.ts'
import type { NoteKind } from '../notes/kind.ts'
import { findPosition } from './commented-line.ts'
import { getCommit } from './describe-commit.ts'
import { commitNoteable } from './noteable.ts'

/** Commits as something that threads hang on (spec B-resolved §11): they can't be resolved. */
const commitKind: NoteKind = {
  path: '/projects/:id/repository/commits/:sha',
  params: { sha: text({ max: 1024 }) },
  tag: 'commits',
  ability: 'read_code',
  plainNotes: false,
  resolvable: false,
  async find(ctx, project, params) {
    const commit = await getCommit(ctx.git.open(project.id), String(params.sha))
    return commitNoteable(ctx, project, commit)
  },
  async place(ctx, noteable, asked) {
    const repo = ctx.git.open(noteable.project.id)
    const commit = await getCommit(repo, noteable.commitId ?? '')
    const found = await findPosition(repo, commit, asked)
    if (found) return found
    throw badRequest('Note {:line_code=>["can\'t be blank", "must be a valid line code"]}')
  },
}

export const commitDiscussions = discussionEndpoints(commitKind)
