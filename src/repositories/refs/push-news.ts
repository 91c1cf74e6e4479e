import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { countCommits } from '../../git/history/count.ts'
import { readLog } from '../../git/history/log.ts'
import { readCommits } from '../../git/objects/commit.ts'
import { findRef } from '../../git/refs/refs.ts'
import type { Repo } from '../../git/repo.ts'
import type { Commit } from '../../git/types.ts'
import { branchOf, isCreation, isDeletion, type RefMove, tagOf } from './moves.ts'

/** What a push did to one branch or tag, with the commits that are new there. */
export interface RefNews {
  readonly ref: string
  readonly kind: 'branch' | 'tag'
  readonly name: string
  readonly action: 'created' | 'removed' | 'pushed'
  readonly oldId: string
  readonly newId: string
  /** Newest first, at most as many as asked for. */
  readonly commits: readonly Commit[]
  readonly total: number
}

/** Reads what is new on a ref. A history that is gone by now gives nothing. */
export async function readNews(
  ctx: Ctx,
  project: Project,
  move: RefMove,
  limit: number,
): Promise<RefNews | undefined> {
  const branch = branchOf(move.name)
  const name = branch ?? tagOf(move.name)
  if (name === undefined) return undefined
  const action = isCreation(move) ? 'created' : isDeletion(move) ? 'removed' : 'pushed'
  const kind = branch === undefined ? 'tag' : 'branch'
  const news = { ref: move.name, kind, name, action, oldId: move.oldId, newId: move.newId } as const
  if (isDeletion(move)) return { ...news, commits: [], total: 0 }
  try {
    return { ...news, ...(await readFresh(ctx, project, move, kind, limit)) }
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    return { ...news, commits: [], total: 0 }
  }
}

/** The commits that a move brought to a ref, and how many there are. */
async function readFresh(
  ctx: Ctx,
  project: Project,
  move: RefMove,
  kind: RefNews['kind'],
  limit: number,
): Promise<Pick<RefNews, 'commits' | 'total'>> {
  const repo = ctx.git.open(project.id)
  if (kind === 'tag') {
    const { commits } = await readLog(repo, { revision: move.newId, limit: 1 })
    return { commits, total: commits.length }
  }
  const start = await startOf(ctx, project, move)
  const only = start === undefined ? undefined : await onlyCommit(repo, start, move.newId)
  if (only) return { commits: [only], total: 1 }
  const revision = start === undefined ? move.newId : `${start}..${move.newId}`
  const { commits } = await readLog(repo, { revision, limit })
  const total = commits.length < limit ? commits.length : await countCommits(repo, { revision })
  return { commits, total }
}

/** The new commit, if it is all that was put onto the old one: most pushes are that, and need no walk. */
async function onlyCommit(repo: Repo, start: string, newId: string): Promise<Commit | undefined> {
  const [commit] = await readCommits(repo, [newId])
  return commit?.parentIds.length === 1 && commit.parentIds[0] === start ? commit : undefined
}

/** What was there before: a new branch brings what the default branch lacks, which itself brings all that it has. */
async function startOf(ctx: Ctx, project: Project, move: RefMove): Promise<string | undefined> {
  if (!isCreation(move)) return move.oldId
  const ref = `refs/heads/${project.default_branch}`
  if (project.default_branch === null || ref === move.name) return undefined
  return (await findRef(ctx.git.open(project.id), ref))?.id
}
