import type { Ctx } from '../../ctx.ts'
import { listReleasesByTag } from './queries.ts'

/** What a tag shows of its release. */
export interface TagRelease {
  readonly tag_name: string
  readonly description: string | null
}

/** The releases of some tags of a project, by tag. */
export async function releasesOfTags(
  ctx: Pick<Ctx, 'db'>,
  projectId: number,
  tags: readonly string[],
): Promise<ReadonlyMap<string, TagRelease>> {
  const rows = await listReleasesByTag(ctx.db, projectId, tags)
  return new Map(rows.map((row) => [row.tag, { tag_name: row.tag, description: row.description }]))
}
