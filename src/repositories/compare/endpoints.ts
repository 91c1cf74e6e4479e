import { z } from 'zod'
import { compareCommits } from '../../git/diff/compare.ts'
import { readCommits } from '../../git/objects/commit.ts'
import { resolveRevision } from '../../git/objects/revision.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, id, text } from '../../http/params.ts'
import { commitEntity, presentCommit } from '../commits/entity.ts'
import { codeRead, projectUrl } from '../repository/access.ts'
import { diffEntity, presentDiff, shownIn } from '../repository/diff-entity.ts'
import { orNotFound } from '../repository/missing.ts'
import { fromProject } from './access.ts'

const comparisonEntity = z.strictObject({
  commit: commitEntity.nullable(),
  commits: z.array(commitEntity),
  diffs: z.array(diffEntity),
  /** A limit was passed and the list ends early (docs/contract/B-resolved §1.5). */
  compare_timeout: z.boolean(),
  compare_same_ref: z.boolean(),
  web_url: z.string(),
})

export const compareRefs = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/compare',
  summary: 'Compare two branches, tags or commits',
  ...codeRead(),
  query: {
    from: text(),
    to: text(),
    from_project_id: id().optional(),
    straight: flag().default(false),
    unidiff: flag().default(false),
  },
  response: comparisonEntity,
  async handler({ ctx, project, repo, query, request }) {
    const source = await fromProject(ctx, project, query.from_project_id)
    const fromRepo = ctx.git.open(source.id)
    const from = await orNotFound('Ref', resolveRevision(fromRepo, query.from))
    const to = await orNotFound('Ref', resolveRevision(repo, query.to))
    const { straight, unidiff } = query
    const compared = { from: from.commitId, to: to.commitId, straight, fromRepo }
    const found = await compareCommits(repo, compared, request.signal)
    const loaded = await readCommits(repo, found.commitIds, request.signal)
    const commits = loaded.map((commit) => presentCommit(ctx, project, commit))
    const shown = await shownIn(repo, to.commitId, found.diff.files, request.signal)
    const range = `${from.commitId}${straight ? '..' : '...'}${to.commitId}`
    return {
      commit: commits.at(-1) ?? null,
      commits,
      diffs: found.diff.files.map((file) => presentDiff(file, { unidiff }, shown)),
      compare_timeout: found.diff.overflow,
      compare_same_ref: found.sameRef,
      web_url: `${projectUrl(ctx, project)}/-/compare/${range}`,
    }
  },
})
