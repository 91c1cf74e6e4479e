import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { protectedTags } from '../image-protection/conditions.ts'
import { listTagsOf } from './queries.ts'

/** The tags of a repository that the caller may not delete. */
export async function protectedTagsOf(
  ctx: Ctx,
  project: Project,
  repositoryId: number,
): Promise<ReadonlySet<string>> {
  const names = (await listTagsOf(ctx.db, [repositoryId])).map((tag) => tag.name)
  return await protectedTags(ctx, project, 'delete', names)
}
