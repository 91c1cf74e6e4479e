import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { protectedTags } from '../image-protection/conditions.ts'
import { listAllTagNames } from './queries.ts'

/** The tags of a repository that the caller may not delete. */
export async function protectedTagsOf(
  ctx: Ctx,
  project: Project,
  repositoryId: number,
): Promise<ReadonlySet<string>> {
  const names = await listAllTagNames(ctx.db, repositoryId)
  return await protectedTags(ctx, project, 'delete', names)
}
