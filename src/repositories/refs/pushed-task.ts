import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { insertPushEffect } from './journal/queries.ts'
import { branchOf, type FinalizedPush, isDeletion, tagOf } from './moves.ts'

/** Pipelines for the branches and tags of a push; what it does is CI's. */
export const refsPushed = {
  name: 'ci.pipelines_after_push',
  payload: z.object({ push_id: z.int() }),
}

/** Notes in a transaction that something follows from a push, which must not happen twice; false when it was noted. */
export async function claimEffect(ctx: Ctx, pushId: number, effect: string): Promise<boolean> {
  return await insertPushEffect(ctx.db, pushId, effect)
}

/** Notifies CI of a push that left branches or tags where pipelines may run. In the transaction of its other effects. */
export async function enqueuePushed(ctx: Ctx, push: FinalizedPush): Promise<void> {
  const mayRun = push.moves.some(
    (move) => !isDeletion(move) && (branchOf(move.name) ?? tagOf(move.name)) !== undefined,
  )
  if (!mayRun || push.userId === null) return
  await ctx.work.enqueue(ctx.db, refsPushed, { push_id: push.id })
}
