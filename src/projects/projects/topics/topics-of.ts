import type { Ctx } from '../../../ctx.ts'
import { listTopicNames } from './queries.ts'

/** The topics of a project, in their order. */
export async function topicsOf(ctx: Ctx, projectId: number): Promise<string[]> {
  return (await listTopicNames(ctx.db, [projectId])).map((row) => row.name)
}
