import type { Ctx } from '../../../ctx.ts'
import type { TodoTargetShown } from '../../../discussions/readers.ts'
import { presentMergeRequests } from '../present.ts'
import { listByIds } from '../queries.ts'

/** The merge requests of these ids, for to-dos about them. */
export async function readTodoRequests(
  ctx: Ctx,
  ids: readonly number[],
): Promise<readonly TodoTargetShown[]> {
  return await presentMergeRequests(ctx, await listByIds(ctx.db, ids), { group: null })
}
