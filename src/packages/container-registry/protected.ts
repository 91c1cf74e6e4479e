import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { keptTags } from '../image-protection/conditions.ts'
import { tagNamesOf } from '../images/tag-names.ts'

/** Whether a repository has a tag that the caller may not delete. */
export async function hasKeptTag(
  ctx: Ctx,
  project: Project,
  repositoryId: number,
): Promise<boolean> {
  const keptAmong = await keptTags(ctx, project, 'delete')
  if (!keptAmong) return false
  for await (const names of tagNamesOf(ctx.db, repositoryId)) {
    if ((await keptAmong(names)).length > 0) return true
  }
  return false
}
