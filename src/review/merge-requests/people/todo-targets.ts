import type { Ctx } from '../../../ctx.ts'
import type { ShownTargets } from '../../../discussions/effects.ts'
import { presentMergeRequests } from '../present.ts'
import { listByIds } from '../queries.ts'

/** Tells all of the merge requests that to-dos are about. */
export async function showTodoRequests(ctx: Ctx, { type, ids, tell }: ShownTargets): Promise<void> {
  if (type !== 'MergeRequest') return
  const rows = await listByIds(ctx.db, ids)
  for (const request of await presentMergeRequests(ctx, rows, { group: null })) tell(request)
}
