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
  const isKept = await keptTags(ctx, project, 'delete')
  if (!isKept) return false
  for await (const names of tagNamesOf(ctx.db, repositoryId)) {
    if (names.some(isKept)) return true
  }
  return false
}
