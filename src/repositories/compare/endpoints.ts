import { mayInProject } from '../../access/decide.ts'
import { findVisibleProject, type Project } from '../../access/subjects.ts'
import { forbidden, invalidText } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { compareCommits } from '../../git/diff/compare.ts'
import { readCommits } from '../../git/objects/commit.ts'
import { resolveRevision } from '../../git/objects/revision.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, id, text } from '../../http/params.ts'
import { presentCommit } from '../commits/entity.ts'
import { onCode, projectUrl } from '../repository/access.ts'
import { presentDiff } from '../repository/diff-entity.ts'
import { areRelated } from '../repository/fork-network.ts'
import { orNotFound } from '../repository/missing.ts'
import { comparisonEntity } from './entity.ts'

export const compareRefs = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/compare',
  summary: 'Compare two branches, tags or commits',
  tags: ['repository'],
  access: onCode(),
  scopes: ['api', 'read_api', 'read_repository'],
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
    const range = `${from.commitId}${straight ? '..' : '...'}${to.commitId}`
    return {
      commit: commits.at(-1) ?? null,
      commits,
      diffs: found.diff.files.map((file) => presentDiff(file, { unidiff })),
      compare_timeout: found.diff.overflow,
      compare_same_ref: found.sameRef,
      web_url: `${projectUrl(ctx, project)}/-/compare/${range}`,
    }
  },
})

/** The project that `from` belongs to: of the same fork network, and readable (docs/contract/B-resolved §1.4). */
async function fromProject(
  ctx: Ctx,
  project: Project,
  id: number | undefined,
): Promise<Pick<Project, 'id'>> {
  if (id === undefined || id === project.id) return project
  const source = await findVisibleProject(ctx, String(id))
  if (!source || !(await areRelated(ctx, project, source))) {
    throw invalidText(`Target project id:${id} is not a fork of project id:${project.id}`)
  }
  if (!mayInProject(ctx.actor, source, 'download_code')) {
    throw forbidden("You don't have access to this fork's parent project")
  }
  return source
}
