import type { Ctx } from '../../../ctx.ts'
import { cachedQuery } from '../../../store/cached-query.ts'
import { listTopicNames } from './queries.ts'

/** The topics of a project, in their order. */
export function topicsOf(ctx: Ctx, projectId: number): Promise<readonly string[]> {
  return cachedQuery(ctx.db, `topics of ${projectId}`, async (db) =>
    (await listTopicNames(db, [projectId])).map((row) => row.name),
  )
}
