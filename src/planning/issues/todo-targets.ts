import { viewerOf } from '../../access/visible-queries.ts'
import type { Ctx } from '../../ctx.ts'
import type { ShownTargets } from '../../discussions/effects.ts'
import { presentIssues } from './present.ts'
import { listSeenIssues } from './queries.ts'

/** Tells all of the issues that to-dos are about. */
export async function showTodoIssues(ctx: Ctx, { type, ids, tell }: ShownTargets): Promise<void> {
  if (type !== 'Issue') return
  const rows = await listSeenIssues(ctx.db, viewerOf(ctx), ids)
  for (const issue of await presentIssues(ctx, rows)) tell(issue)
}
