import type { Ctx } from '../../ctx.ts'
import { sumGroupSizes, sumLfsObjects, sumProjectSizes } from './queries.ts'

/** Bytes of wikis, snippets and job artifacts. */
export interface SideSizes {
  readonly wiki: number
  readonly snippets: number
  readonly artifacts: number
}

export async function sideSizesOfProjects(
  ctx: Pick<Ctx, 'db'>,
  ids: readonly number[],
): Promise<Map<number, SideSizes>> {
  const rows = await sumProjectSizes(ctx.db, ids)
  return new Map(rows.map(({ project_id, ...sizes }) => [project_id, sizes]))
}

export async function sideSizesOfGroups(
  ctx: Pick<Ctx, 'db'>,
  ids: readonly number[],
): Promise<Map<number, SideSizes>> {
  const rows = await sumGroupSizes(ctx.db, ids)
  return new Map(rows.map(({ group_id, ...sizes }) => [group_id, sizes]))
}

/** Bytes of the large files of projects, by project. */
export function lfsSizes(
  ctx: Pick<Ctx, 'db'>,
  projectIds: readonly number[],
): Promise<Map<number, number>> {
  return sumLfsObjects(ctx.db, projectIds)
}
