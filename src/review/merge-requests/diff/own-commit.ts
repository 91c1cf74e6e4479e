import { notFound } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import type { Noteable } from '../../../discussions/notes/noteable.ts'
import { readLog } from '../../../git/history/log.ts'
import { findLatestVersion } from '../queries.ts'

const mostCommits = 1000

/** 404 when the commit is none of those that the merge request brings. */
export async function assertOwnCommit(ctx: Ctx, noteable: Noteable, sha: string): Promise<void> {
  const version = await findLatestVersion(ctx.db, noteable.id ?? 0)
  if (!version) throw notFound('Commit')
  const revision = `${version.start_sha}..${version.head_sha}`
  const repo = ctx.git.open(noteable.project.id)
  const { commits } = await readLog(repo, { revision, limit: mostCommits })
  if (!commits.some((commit) => commit.id === sha)) throw notFound('Commit')
}
