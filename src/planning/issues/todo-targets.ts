import { viewerOf } from '../../access/visible-queries.ts'
import type { Ctx } from '../../ctx.ts'
import type { TodoTargetShown } from '../../discussions/readers.ts'
import { presentIssues } from './present.ts'
import { listSeenIssues } from './queries.ts'

/** The issues of these ids that the caller may see, for to-dos about them. */
export async function readTodoIssues(
  ctx: Ctx,
  ids: readonly number[],
): Promise<readonly TodoTargetShown[]> {
  return await presentIssues(ctx, await listSeenIssues(ctx.db, viewerOf(ctx), ids))
}
