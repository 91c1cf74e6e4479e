import { z } from 'zod'
import { userOf } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { createLock, listLocks, presentLock, removeLock } from '../../repositories/lfs/locks.ts'

const cursor = z.string().max(30).optional()
const limit = z.coerce.number().int().optional()

export const lockRequest = z.object({ path: z.string().max(8192) })
export const verifyRequest = z.object({ cursor, limit })
export const unlockRequest = z.object({ force: z.boolean().optional() })
export const listQuery = z.object({
  path: z.string().max(8192).optional(),
  id: z.string().max(30).optional(),
  cursor,
  limit,
})

export async function answerLock(ctx: Ctx, project: Project, body: z.output<typeof lockRequest>) {
  return { lock: await createLock(ctx, project, body.path) }
}

export async function answerUnlock(
  ctx: Ctx,
  project: Project,
  asked: { readonly id: string; readonly force?: boolean | undefined },
) {
  return { lock: await removeLock(ctx, project, { id: asked.id, force: asked.force ?? false }) }
}

export async function answerLocks(ctx: Ctx, project: Project, query: z.output<typeof listQuery>) {
  const { locks, ...rest } = await listLocks(ctx, project, query)
  return { locks: locks.map(presentLock), ...rest }
}

/** All locks before a push: the caller's own, and those that would stand in its way. */
export async function answerVerify(
  ctx: Ctx,
  project: Project,
  body: z.output<typeof verifyRequest>,
) {
  const { locks, ...rest } = await listLocks(ctx, project, body)
  const userId = userOf(ctx.actor)?.id
  return {
    ours: locks.filter((lock) => lock.user_id === userId).map(presentLock),
    theirs: locks.filter((lock) => lock.user_id !== userId).map(presentLock),
    ...rest,
  }
}
