import { actAs } from '../../access/act-as.ts'
import type { Enqueued } from '../../background/queue.ts'
import { KeyedSemaphore } from '../../base/semaphore.ts'
import type { Ctx } from '../../ctx.ts'
import { findPushedProject } from '../../projects/projects/pushed-queries.ts'
import { inTransaction } from '../../store/transaction.ts'
import { applyEffects, followUp } from './after-move.ts'
import { deleteWaiting, listMovedRefsOf, listPushes, listWaiting } from './journal/queries.ts'
import type { FinalizedPush } from './moves.ts'
import { enqueuePushed } from './pushed-task.ts'

/** Pushes whose effects run in one transaction; others who write must not wait long. */
const most = 30

/** By project. */
const oneByOne = new KeyedSemaphore({ limit: 1 })

/**
 * Applies the effects of every push to a project that waits for it, in their order. Those that come meanwhile are taken
 * along. Where they can't be applied together each gets a task of its own.
 */
export function applyWaiting(
  ctx: Ctx,
  projectId: number,
  alone: Enqueued<{ push_id: number }>,
  signal?: AbortSignal,
): Promise<void> {
  return oneByOne.run(String(projectId), async () => {
    for (;;) {
      signal?.throwIfAborted()
      const ids = await listWaiting(ctx.db, projectId, most)
      if (ids.length === 0) return
      try {
        await applyTogether(ctx, ids)
      } catch (error) {
        ctx.log.warn('effects of pushes are tried one by one', { error, project: projectId })
        await inTransaction(ctx, async (ctx) => {
          for (const push_id of ids) await ctx.work.enqueue(ctx.db, alone, { push_id })
          await deleteWaiting(ctx.db, ids)
        })
      }
    }
  })
}

/** Applies the effects of pushes to one project: what takes git first, then one transaction. */
export async function applyTogether(ctx: Ctx, pushIds: readonly number[]): Promise<void> {
  const follows: ((ctx: Ctx) => Promise<void>)[] = []
  const actors = new Map<number | null, Ctx>()
  const pushes = await readFinalized(ctx, pushIds)
  const projectId = pushes[0]?.projectId
  const project = projectId === undefined ? undefined : await findPushedProject(ctx.db, projectId)
  for (const push of pushes) {
    const acting = actors.get(push.userId) ?? (await actAs(ctx, push.userId))
    actors.set(push.userId, acting)
    follows.push(await applyEffects(acting, project, push))
  }
  await inTransaction(ctx, async (ctx) => {
    for (const follow of follows) await follow(ctx)
    await enqueuePushed(ctx, pushes)
    if (projectId !== undefined) await followUp(ctx, projectId, project, pushes)
    await deleteWaiting(ctx.db, pushIds)
  })
}

/** Pushes whose refs have moved, in their order, for whoever must look at them later. */
export async function readFinalized(ctx: Ctx, ids: readonly number[]): Promise<FinalizedPush[]> {
  const moves = await listMovedRefsOf(ctx.db, ids)
  return (await listPushes(ctx.db, ids)).flatMap((push) =>
    push.project_id === null
      ? []
      : {
          id: push.id,
          projectId: push.project_id,
          userId: push.user_id,
          via: push.via,
          options: JSON.parse(push.options) as string[], // written by us as a list of texts
          at: push.created_at,
          moves: moves.get(push.id) ?? [],
        },
  )
}
