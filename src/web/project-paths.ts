import { Problem } from '../base/problem.ts'
import { call } from '../http/call/call.ts'
import { getProject } from '../projects/projects/endpoints.ts'
import type { PageCtx } from './page-ctx.ts'

/** The paths of projects that are known by their numbers; of those that the caller may see. */
export async function readProjectPaths(
  ctx: PageCtx,
  ids: readonly (number | null)[],
): Promise<ReadonlyMap<number, string>> {
  const known = [...new Set(ids)].filter((id) => id !== null)
  const paths = await Promise.all(
    known.map(async (id): Promise<[number, string][]> => {
      try {
        const project = await call(getProject, ctx, { path: { id } })
        return [[id, project.path_with_namespace]]
      } catch (error) {
        if (error instanceof Problem) return []
        throw error
      }
    }),
  )
  return new Map(paths.flat())
}
