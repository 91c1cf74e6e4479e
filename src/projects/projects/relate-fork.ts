import type { Ctx } from '../../ctx.ts'
import { updateProjectRow } from './queries.ts'

/** Records of which project another is a fork; null forgets it. */
export async function relateFork(
  ctx: Ctx,
  projectId: number,
  parentId: number | null,
): Promise<void> {
  await updateProjectRow(ctx.db, projectId, { forked_from_id: parentId, updated_at: ctx.now() })
}
