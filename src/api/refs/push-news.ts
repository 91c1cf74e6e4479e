import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { countCommits } from '../../git/count.ts'
import { GitError } from '../../git/error.ts'
import { readLog } from '../../git/log.ts'
import { findRef } from '../../git/refs.ts'
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

/** Reads what is new on a ref. A history that is gone by now tells nothing. */
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
  const repo = ctx.git.open(project.id)
  try {
    const revision = await revisionOf(ctx, project, move, kind)
    const { commits } = await readLog(repo, { revision, limit: kind === 'tag' ? 1 : limit })
    if (kind === 'tag') return { ...news, commits, total: commits.length }
    const total = commits.length < limit ? commits.length : await countCommits(repo, { revision })
    return { ...news, commits, total }
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    return { ...news, commits: [], total: 0 }
  }
}

/** A new branch brings what the default branch lacks; the default branch itself all that it has. */
async function revisionOf(
  ctx: Ctx,
  project: Project,
  move: RefMove,
  kind: 'branch' | 'tag',
): Promise<string> {
  if (kind === 'tag') return move.newId
  if (!isCreation(move)) return `${move.oldId}..${move.newId}`
  const ref = `refs/heads/${project.default_branch}`
  if (project.default_branch === null || ref === move.name) return move.newId
  const base = await findRef(ctx.git.open(project.id), ref)
  return base ? `${base.id}..${move.newId}` : move.newId
}
