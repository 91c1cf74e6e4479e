import type { Ctx } from '../../../ctx.ts'
import { mergeRequestUrl } from '../present.ts'
import { listOpenAt } from '../queries.ts'

/** Where the open merge requests of a branch are seen, oldest first. */
export async function openRequestUrls(
  ctx: Ctx,
  projectId: number,
  branch: string,
): Promise<string[]> {
  const rows = await listOpenAt(ctx.db, 'source', projectId, branch)
  return rows.map((row) => mergeRequestUrl(ctx, row))
}
