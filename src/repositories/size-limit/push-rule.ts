import type { Ctx } from '../../ctx.ts'
import { isDeletion, type Refusal } from '../refs/moves.ts'
import type { CheckedPush } from '../refs/rules.ts'
import { claimRoom, findRoom, refusalOfCommit, refusalOfPush } from './limit.ts'

/**
 * What would make a repository larger than it may be. A push to one that is full is refused before its commits are sent;
 * branches and tags may still be deleted, and the server may still make them of commits that are there.
 */
export async function sizeLimitRule(ctx: Ctx, at: CheckedPush): Promise<readonly Refusal[]> {
  const { project, objects, push } = at
  const made = push.moves.filter((move) => !isDeletion(move))
  if (made.length === 0 || (objects === undefined && push.via !== 'push')) return []
  if (push.via === 'push' && objects !== undefined) {
    // Asked for first: the room is measured last.
    const bytes = await objects.newBytes()
    return refuse(at, await claimRoom(ctx, project, { holder: push, bytes }, refusalOfPush))
  }
  const room = await findRoom(ctx, project)
  if (!room) return []
  if (push.via === 'push') return refuse(at, refusalOfPush(room, 0))
  // A commit of files was measured before it was written; these are few bytes.
  const reason = refusalOfCommit(room, 0)
  if (reason === undefined || !(await bringsCommits(at))) return []
  return refuse(at, reason)
}

async function bringsCommits({ objects, push }: CheckedPush): Promise<boolean> {
  for (const move of push.moves) {
    if (objects && !isDeletion(move) && (await objects.newCommits(move.newId)).length > 0) {
      return true
    }
  }
  return false
}

function refuse({ push }: CheckedPush, reason: string | undefined): readonly Refusal[] {
  return reason === undefined ? [] : push.moves.map(({ name }) => ({ name, reason }))
}
