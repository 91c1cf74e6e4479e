import { conflict } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { isTaskWaiting } from './task-queries.ts'
import { tidyRepository } from './tasks.ts'

/** Enqueues the tidying of a repository; 409 while one waits or runs. */
export async function startHousekeeping(
  ctx: Ctx,
  projectId: number,
  how: 'eager' | 'prune',
): Promise<void> {
  const uniqueKey = String(projectId)
  if (await isTaskWaiting(ctx.db, tidyRepository.name, uniqueKey)) {
    throw conflict('409 Conflict: Housekeeping has already been triggered')
  }
  await ctx.work.enqueue(ctx.db, tidyRepository, { project_id: projectId, how }, { uniqueKey })
}
