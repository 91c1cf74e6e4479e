import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { insertPushEffect } from './journal/queries.ts'
import { branchOf, type FinalizedPush, isDeletion, tagOf } from './moves.ts'

/** Pipelines for the branches and tags of pushes to one project; what it does is CI's. */
export const refsPushed = {
  name: 'ci.pipelines_after_pushes',
  payload: z.object({ push_ids: z.array(z.int()) }),
}

/** Notes in a transaction that something follows from a push, which must not happen twice; false when it was noted. */
export async function claimEffect(ctx: Ctx, pushId: number, effect: string): Promise<boolean> {
  return await insertPushEffect(ctx.db, pushId, effect)
}

/** Notifies CI of pushes that left branches or tags where pipelines may run. In the transaction of their other effects. */
export async function enqueuePushed(ctx: Ctx, pushes: readonly FinalizedPush[]): Promise<void> {
  const push_ids = pushes.filter(mayRun).map(({ id }) => id)
  if (push_ids.length > 0) await ctx.work.enqueue(ctx.db, refsPushed, { push_ids })
}

function mayRun(push: FinalizedPush): boolean {
  if (push.userId === null) return false
  return push.moves.some(
    (move) => !isDeletion(move) && (branchOf(move.name) ?? tagOf(move.name)) !== undefined,
  )
}
