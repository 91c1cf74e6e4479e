import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { readCommitStats } from '../../git/diff/commit-stats.ts'
import { readCommit } from '../../git/objects/commit.ts'
import type { Repo } from '../../git/repo.ts'
import type { Commit } from '../../git/types.ts'
import { orNotFound } from '../repository/missing.ts'
import { type CommitDetail, presentCommitDetail } from './entity.ts'
import { lastPipeline } from './visible-pipeline.ts'

/** The commit that an id, branch or tag stands for, or 404 `404 Commit Not Found`. */
export async function getCommit(repo: Repo, sha: string, signal?: AbortSignal): Promise<Commit> {
  return await orNotFound('Commit', readCommit(repo, sha, signal))
}

/** A commit with all that the single-commit answer holds. */
export async function describeCommit(
  ctx: Ctx,
  project: Project,
  commit: Commit,
  options: { readonly stats: boolean },
  signal?: AbortSignal,
): Promise<CommitDetail> {
  const repo = ctx.git.open(project.id)
  const [stats] = options.stats ? await readCommitStats(repo, [commit.id], signal) : []
  const pipeline = await lastPipeline(ctx, project, commit.id)
  return presentCommitDetail(ctx, project, commit, { stats, lastPipeline: pipeline })
}
