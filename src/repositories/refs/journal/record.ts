import { recordedUser } from '../../../access/actor.ts'
import { runEffects } from '../../../base/effects.ts'
import type { Ctx } from '../../../ctx.ts'
import { pointHead } from '../../../projects/projects/pushed.ts'
import { flushLater, inTransaction } from '../../../store/transaction.ts'
import { afterMove } from '../after-move.ts'
import type { Push } from '../moves.ts'
import { afterPushes } from '../tasks.ts'
import { closePush, insertPush, insertWaiting, type JournalKey, markMoves } from './queries.ts'

/**
 * Records that refs are about to move, so that a crash can't leave a move without its effects.
 * `process` names the git process that will do it. Gives the id to finalize with.
 */
export async function openPush(
  ctx: Ctx,
  key: JournalKey,
  push: Push,
  process: string | null = null,
): Promise<number> {
  return await inTransaction(ctx, async (ctx) => {
    const intent = {
      key,
      userId: recordedUser(ctx.actor)?.id ?? null,
      via: push.via,
      options: optionsOf(ctx, push),
      process,
      moves: push.moves,
    }
    const pushId = await insertPush(ctx.db, intent, ctx.now())
    await push.record?.(ctx, pushId)
    return pushId
  })
}

/** What a job pushes starts no pipelines: their jobs would push again, for ever. */
function optionsOf(ctx: Ctx, push: Push): readonly string[] {
  const given = push.options ?? []
  return ctx.actor.kind === 'job' ? [...given, 'ci.skip'] : given
}

/**
 * Records which refs of a project did move and everything that follows from it, in one transaction. What
 * takes long is left to a task of that transaction. A push that is final already stays as it is. A power cut that
 * takes the transaction away leaves the intent and the refs, which `refs.recover` finalizes alike.
 */
export async function finalizePush(
  ctx: Ctx,
  projectId: number,
  pushId: number,
  moved: ReadonlySet<string>,
): Promise<void> {
  const defaultBranch = await inTransaction(ctx, async (ctx) => {
    const via = await closePush(ctx.db, pushId, ctx.now())
    if (via === undefined) return undefined
    await flushLater(ctx.db)
    const moves = await markMoves(ctx.db, pushId, moved)
    if (moves.length === 0) {
      await runEffects(ctx, ctx.effects.refsRefused, { pushId, via })
      return undefined
    }
    await runEffects(ctx, ctx.effects.refsMoved, { projectId, pushId, via, moves })
    await insertWaiting(ctx.db, projectId, pushId)
    const uniqueKey = String(projectId)
    await ctx.work.enqueue(ctx.db, afterPushes, { project_id: projectId }, { uniqueKey })
    return await afterMove(ctx, projectId, moves)
  })
  // The task does it again, should we not get there.
  if (defaultBranch !== undefined) await pointHead(ctx, projectId)
}
