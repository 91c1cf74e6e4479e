import { userOf } from '../../access/actor.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { isBranchName } from '../../git/names.ts'
import { inTransaction } from '../../store/transaction.ts'
import type { RefDoor } from '../refs/door.ts'
import { branchOf, isDeletion, type Push, type RefMove, type Refusal } from '../refs/moves.ts'
import type { ObjectFacts } from '../refs/object-facts.ts'
import { isProhibited } from '../refs/prohibited-names.ts'
import { insertMove } from './move-queries.ts'
import { claimBranch } from './queries.ts'
import { settleMove } from './settle.ts'
import type { Side } from './side.ts'

/** The way into the repository of a wiki or snippet: one branch, and what its kind allows on it. */
export function sideDoor(ctx: Ctx, side: Side): RefDoor {
  return {
    repo: ctx.git.open(side.name),
    gate: (push, objects) => sideGate(side, push, objects),
    open: (push, process = null) => openMove(ctx, side, push, process),
    settle: (moveId, moved) => settleMove(ctx, moveId, moved.size > 0),
  }
}

async function sideGate(
  side: Side,
  push: Push,
  objects: ObjectFacts | undefined,
): Promise<readonly Refusal[]> {
  const refusals: Refusal[] = []
  const [first] = push.moves
  for (const move of push.moves) {
    const reason =
      side.refusal ??
      refusalOfMove(side, move, move !== first) ??
      (objects && (await side.check(objects, move.newId, push.via)))
    if (reason !== undefined) refusals.push({ name: move.name, reason })
  }
  return refusals
}

const otherBranch = 'You can not create or delete branches.'

/** Wikis and snippets have one branch and no tags; the first push decides its name. */
function refusalOfMove(side: Side, move: RefMove, another: boolean): string | undefined {
  const branch = branchOf(move.name)
  if (branch === undefined) return 'You can not create or delete tags.'
  if (isDeletion(move) || another) return otherBranch
  if (side.defaultBranch !== null) return branch === side.defaultBranch ? undefined : otherBranch
  return isBranchName(branch) && !isProhibited(branch) ? undefined : otherBranch
}

async function openMove(ctx: Ctx, side: Side, push: Push, process: string | null): Promise<number> {
  const [move] = push.moves
  if (!move) throw new TypeError('a push without moves')
  return await inTransaction(ctx, async (ctx) => {
    const decided = await claimBranch(ctx.db, side.id, branchOf(move.name) ?? '')
    // Somebody else's first push was faster, with another branch.
    if (`refs/heads/${decided}` !== move.name) throw new Problem('conflict', 409, otherBranch)
    const userId = userOf(ctx.actor)?.id ?? null
    const moveId = await insertMove(
      ctx.db,
      { repositoryId: side.id, userId, process, move },
      ctx.now(),
    )
    await push.record?.(ctx, moveId)
    return moveId
  })
}
